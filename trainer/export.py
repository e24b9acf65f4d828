"""`python -m trainer.export DIR FILE.safetensors`: the weights of the newest valid checkpoint in DIR, as one file.

The file has the model's parameters under their names, whole, however they were spread over ranks, and in its metadata
`step` and `epoch`. It is there whole or not at all, and never over one that exists.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from safetensors.torch import save_file

from trainer.checkpoint.catalogue import newest_in
from trainer.checkpoint.files import sync_directory
from trainer.checkpoint.publish import temporary_for
from trainer.checkpoint.tensors import read_model
from trainer.errors import CheckpointError
from trainer.standalone import answer


def main(arguments: Sequence[str]) -> int:
    """Returns the exit status: 0 with one line about the file, 1 when there is no valid checkpoint or no room."""
    parser = argparse.ArgumentParser(prog="python -m trainer.export", description=__doc__)
    parser.add_argument("directory", metavar="DIR", type=Path, help="the run's --checkpoint-dir")
    parser.add_argument("file", metavar="FILE", type=Path, help="where the weights go, as FILE.safetensors")
    given = parser.parse_args(arguments)
    return answer(lambda: export(given.directory, given.file))


def export(directory: Path, file: Path) -> str:
    """Writes the newest valid checkpoint's weights into the new `file`; returns the line that says so.

    Source of the format: https://github.com/huggingface/safetensors#format

    Raises:
        CheckpointError: No checkpoint in `directory` is valid, or `file` exists or cannot be written.
    """
    path, state = newest_in(directory)
    weights = read_model(path)
    about = {"format": "pt", "step": str(state.progress.step), "epoch": str(state.progress.epoch)}
    temporary = temporary_for(file)
    try:
        save_file(weights, temporary, metadata=about)
        _publish(temporary, file)
    except FileExistsError as error:
        raise CheckpointError(f"{file} exists and is never overwritten: write another FILE") from error
    # safetensors has an error of its own for a disk that refuses.
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
    # Unlike a rename, a link does not replace what is there.
    file.hardlink_to(temporary)
    sync_directory(file.parent)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
