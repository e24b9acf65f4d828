"""`python -m trainer.export DIR FILE.safetensors`: writes the weights of the newest valid checkpoint to a file.

The file contains the full parameters by name, however they were sharded, and `step` and `epoch` as metadata. It is
written atomically and never replaces an existing file.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from safetensors.torch import save_file

from trainer.checkpoint.catalog import require_newest_valid
from trainer.checkpoint.files import sync_directory
from trainer.checkpoint.publish import temporary_path
from trainer.checkpoint.tensors import read_model
from trainer.errors import CheckpointError
from trainer.standalone import run_standalone

DESCRIPTION = (
    "Write the weights of the newest valid checkpoint in DIR to one safetensors file. It holds the full parameters "
    "under their names, and the step and epoch as metadata. An existing file is not overwritten."
)


def main(arguments: Sequence[str]) -> int:
    """Runs the command.

    Returns:
        The exit status: 0 with one line about the file, 1 if no checkpoint is valid or the file cannot be written.
    """
    parser = argparse.ArgumentParser(prog="python -m trainer.export", description=DESCRIPTION)
    parser.add_argument("directory", metavar="DIR", type=Path, help="the run's --checkpoint-dir")
    parser.add_argument("file", metavar="FILE", type=Path, help="new file for the weights, as FILE.safetensors")
    given = parser.parse_args(arguments)
    return run_standalone(lambda: export(given.directory, given.file))


def export(directory: Path, file: Path) -> str:
    """Writes the weights of the newest valid checkpoint to the new `file`.

    Format: https://github.com/huggingface/safetensors#format

    Returns:
        One line that describes the file.

    Raises:
        CheckpointError: No checkpoint in `directory` is valid, or `file` exists or cannot be written.
    """
    path, state = require_newest_valid(directory)
    weights = read_model(path)
    about = {"format": "pt", "step": str(state.train_state.step), "epoch": str(state.train_state.epoch)}
    temporary = temporary_path(file)
    try:
        save_file(weights, temporary, metadata=about)
        _publish(temporary, file)
    except FileExistsError as error:
        raise CheckpointError(f"{file} exists and is never overwritten: write another FILE") from error
    # safetensors raises its own error type when a write fails.
    except Exception as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise CheckpointError(f"cannot write {file}: {reason}") from error
    finally:
        temporary.unlink(missing_ok=True)
    size = sum(tensor.numel() for tensor in weights.values())
    return f"exported: epoch={about['epoch']} step={about['step']} parameters={size} path={file}"


def _publish(temporary: Path, file: Path) -> None:
    with temporary.open("rb+") as written:
        os.fsync(written.fileno())
    # Unlike a rename, a link never replaces an existing file.
    file.hardlink_to(temporary)
    sync_directory(file.parent)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
