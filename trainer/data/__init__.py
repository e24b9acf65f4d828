"""What is trained on, and in which order."""

from trainer.config import TrainerConfig
from trainer.data.batch import Data


def load_data(config: TrainerConfig) -> Data:
    """The data that `config` names. Reads nothing that it does not name."""
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
