"""The training data and their order."""

from __future__ import annotations

from trainer.config import TrainerConfig
from trainer.data.batch import Data


def load_data(config: TrainerConfig) -> Data:
    """Loads the data that `config` names."""
    match config.data:
        case "digits":
            from trainer.data.digits import load_digits

            return load_digits(config.seed)
        case "text":
            from trainer.data.text import load_text

            return load_text(config.context_length)
        case _:
            from trainer.data.folder import load_folder

            return load_folder(config)
