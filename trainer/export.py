"""`python -m trainer.export DIR OUT`: writes the weights of the newest valid checkpoint to a file, or for Hugging Face.

A file contains the full parameters by name, however they were sharded, and `step` and `epoch` as metadata. A folder is
one that `from_pretrained` of transformers loads. Both are written atomically and never replace what exists.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from safetensors.torch import save_file
from torch import Tensor

from .checkpoint.catalog import require_newest_valid
from .checkpoint.files import sync_directory
from .checkpoint.publish import temporary_path
from .checkpoint.state import CheckpointState
from .checkpoint.tensors import read_model
from .config import TrainerConfig
from .config.huggingface import config_json
from .config.initial_weights import CONFIG_NAME, FIELDS_KEY, described_fields
from .errors import CheckpointError, TrainerError
from .models.huggingface import tensors_of, with_prefix
from .models.pretrained import SINGLE
from .standalone import run_standalone

DESCRIPTION = (
    "Write the weights of the newest valid checkpoint in DIR. FILE.safetensors holds the full parameters under their "
    "names, and the step and epoch as metadata. A folder holds config.json and model.safetensors for Hugging Face "
    "transformers (models gpt and llama). What exists is not overwritten."
)
_FORMATS = ("safetensors", "huggingface")


def main(arguments: Sequence[str]) -> int:
    """Runs the command.

    Returns:
        The exit status: 0 with one line about the output, 1 if no checkpoint is valid or the output cannot be written.
    """
    parser = argparse.ArgumentParser(prog="python -m trainer.export", description=DESCRIPTION)
    parser.add_argument("directory", metavar="DIR", type=Path, help="the run's --checkpoint-dir")
    parser.add_argument(
        "out", metavar="OUT", type=Path, help="new file for the weights, as FILE.safetensors, or folder"
    )
    parser.add_argument(
        "--format",
        choices=_FORMATS,
        help="safetensors (one file) or huggingface (a folder) (default: safetensors if OUT ends so, else huggingface)",
    )
    given = parser.parse_args(arguments)
    # Names of models have dots, as in `Llama-3.2-1B`, so that not every suffix is one of a file.
    kind = given.format or _FORMATS[given.out.suffix != ".safetensors"]
    return run_standalone(lambda: export(given.directory, given.out, for_huggingface=kind == "huggingface"))


def export(directory: Path, out: Path, *, for_huggingface: bool = False) -> str:
    """Writes the weights of the newest valid checkpoint to the new file or folder `out`.

    Format: https://github.com/huggingface/safetensors#format

    Returns:
        One line that describes the output.

    Raises:
        CheckpointError: No checkpoint in `directory` is valid, or `out` exists or cannot be written.
        ConfigError: Hugging Face has no such model.
    """
    path, state = require_newest_valid(directory)
    exported = _Export(read_model(path), state)
    temporary = temporary_path(out)
    try:
        if for_huggingface:
            exported.write_folder(temporary)
            _publish_folder(temporary, out)
        else:
            exported.write_file(temporary)
            _publish_file(temporary, out)
    except FileExistsError as error:
        raise CheckpointError(f"{out} exists and is never overwritten: write another OUT") from error
    except TrainerError:
        raise
    # safetensors raises its own error type when a write fails.
    except Exception as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise CheckpointError(f"cannot write {out}: {reason}") from error
    finally:
        _remove(temporary)
    progress = state.train_state
    return f"exported: epoch={progress.epoch} step={progress.step} parameters={exported.size} path={out}"


@dataclass(frozen=True, slots=True)
class _Export:
    weights: dict[str, Tensor]
    state: CheckpointState

    @property
    def size(self) -> int:
        return sum(tensor.numel() for tensor in self.weights.values())

    def write_file(self, file: Path) -> None:
        """Writes the trainer's own tensors, with the fields that a run with `init_from` follows."""
        config = TrainerConfig.from_json(self.state.config)
        fields = described_fields(config, self._vocabulary(config))
        save_file(self.weights, file, metadata={**self._about(), FIELDS_KEY: json.dumps(fields)})
        _sync(file)

    def write_folder(self, folder: Path) -> None:
        """Writes the files of a Hugging Face model."""
        config = TrainerConfig.from_json(self.state.config)
        described = config_json(config, self._vocabulary(config))
        folder.mkdir()
        named = {with_prefix(config, name): parts.join(self.weights) for name, parts in tensors_of(config).items()}
        save_file(named, folder / SINGLE, metadata=self._about())
        (folder / CONFIG_NAME).write_text(json.dumps(described, indent=2) + "\n")
        for name in (SINGLE, CONFIG_NAME):
            _sync(folder / name)
        sync_directory(folder)

    def _about(self) -> dict[str, str]:
        progress = self.state.train_state
        return {"format": "pt", "step": str(progress.step), "epoch": str(progress.epoch)}

    def _vocabulary(self, config: TrainerConfig) -> int:
        """Returns the size of the vocabulary, which some data sets know better than the configuration."""
        return len(self.weights["tokens.weight"]) if config.reads_tokens else config.classes


def _publish_file(temporary: Path, file: Path) -> None:
    # Unlike a rename, a link never replaces an existing file.
    file.hardlink_to(temporary)
    sync_directory(file.parent)


def _publish_folder(temporary: Path, folder: Path) -> None:
    if folder.exists():  # rename would silently replace an empty directory
        raise FileExistsError
    temporary.rename(folder)
    sync_directory(folder.parent)


def _sync(file: Path) -> None:
    with file.open("rb+") as written:
        os.fsync(written.fileno())


def _remove(temporary: Path) -> None:
    remove: Callable[[Path], None] = shutil.rmtree if temporary.is_dir() else Path.unlink
    if temporary.exists():
        remove(temporary)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
