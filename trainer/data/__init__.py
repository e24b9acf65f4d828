"""The training data and their order."""

from __future__ import annotations

from ..config import TrainerConfig
from .batch import Data


def load_data(config: TrainerConfig) -> Data:
    """Loads the data that `config` names."""
    match config.data:
        case "digits":
            from .digits import load_digits

            return load_digits(config.seed)
        case "text":
            from .text import load_text

            return load_text(config.context_length, config.classes)
        case _:
            from .folder import load_folder

            return load_folder(config)
