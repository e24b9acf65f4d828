"""`python -m trainer.prepare FILE.parquet ... --tokenizer DIR --output FILE.bin`: writes the tokens of texts to a file.

Ranks need samples of one length by index. Texts have no length until they are tokenized, so this is done once, before
the run. The file is an array of tokens as nanoGPT writes it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .checkpoint.publish import temporary_path
from .errors import ConfigError
from .standalone import run_standalone

DESCRIPTION = (
    "Write the tokens of the texts in Parquet files to one .bin file, which --data folder reads. The end-of-text token "
    "follows each text. An existing file is not overwritten."
)
_TEXTS_AT_ONCE = 1000
# The largest vocabulary whose tokens have 2 bytes.
_SMALL = 2**16


def main(arguments: Sequence[str]) -> int:
    """Runs the command.

    Returns:
        The exit status: 0 with one line about the file, 2 if an argument is wrong.
    """
    parser = argparse.ArgumentParser(prog="python -m trainer.prepare", description=DESCRIPTION)
    parser.add_argument("files", metavar="FILE", type=Path, nargs="+", help="Parquet files with a column of texts")
    parser.add_argument("--tokenizer", metavar="DIR", type=Path, required=True, help="folder with tokenizer.json")
    parser.add_argument("--output", metavar="FILE", type=Path, required=True, help="new file for the tokens: FILE.bin")
    parser.add_argument("--column", default="text", help="the column of texts (default: text)")
    parser.add_argument(
        "--end-of-text", metavar="TOKEN", help="token after each text (default: eos_token of tokenizer_config.json)"
    )
    given = parser.parse_args(arguments)
    return run_standalone(
        lambda: prepare(given.files, Encoder.read(given.tokenizer, given.end_of_text), given.output, given.column)
    )


@dataclass(frozen=True, slots=True)
class Encoder:
    """A tokenizer of Hugging Face's package `tokenizers`.

    Attributes:
        tokenizer: The tokenizer.
        end: The end-of-text token; None if there is none.
    """

    tokenizer: Any
    end: int | None

    @classmethod
    def read(cls, folder: Path, end_of_text: str | None) -> Encoder:
        """Reads the tokenizer in `folder`.

        Raises:
            ConfigError: The package is missing, the file is no tokenizer, or the token does not exist.
        """
        try:
            from tokenizers import Tokenizer
        except ImportError as error:
            raise ConfigError("--tokenizer needs the package tokenizers: install it") from error
        path = folder / "tokenizer.json"
        try:
            tokenizer = Tokenizer.from_str(path.read_text())
        except OSError as error:
            advice = "write the folder of a Hugging Face tokenizer"
            raise ConfigError(f"cannot read --tokenizer {path}: {error.strerror}: {advice}") from error
        except Exception as error:  # the package has no error type of its own
            raise ConfigError(f"{path} is not a tokenizer: {error}") from error
        # A tokenizer may be saved with the settings of its last use, which would cut texts off or fill them up.
        tokenizer.no_truncation()
        tokenizer.no_padding()
        token = end_of_text or _end_of_text(folder / "tokenizer_config.json")
        end = tokenizer.token_to_id(token) if token else None
        if token and end is None:
            raise ConfigError(f"{path} has no token {token}: write --end-of-text with a token of its vocabulary")
        return cls(tokenizer, end)

    @property
    def vocabulary(self) -> int:
        """The smallest number above all tokens."""
        numbers: dict[str, int] = self.tokenizer.get_vocab(with_added_tokens=True)
        return 1 + max(numbers.values())

    def encode(self, texts: Sequence[str]) -> Iterator[list[int]]:
        """Yields the tokens of each text."""
        end = [] if self.end is None else [self.end]
        for encoded in self.tokenizer.encode_batch_fast(texts, add_special_tokens=False):
            yield encoded.ids + end


def prepare(files: Sequence[Path], encoder: Encoder, output: Path, column: str) -> str:
    """Writes the tokens of the texts in `files` to the new file `output`.

    Returns:
        One line that describes the file.

    Raises:
        ConfigError: A file cannot be read or written, or has no texts.
    """
    vocabulary = encoder.vocabulary
    suffix, dtype = (".bin", "<u2") if vocabulary <= _SMALL else (".uint32.bin", "<u4")
    if not output.name.endswith(suffix) or (suffix == ".bin" and output.name.endswith(".uint32.bin")):
        stem = output.name.removesuffix(".bin").removesuffix(".uint32")
        raise ConfigError(
            f"--output {output} does not name {np.dtype(dtype).name} tokens, which a vocabulary of {vocabulary} needs: "
            f"write --output {output.with_name(stem + suffix)}"
        )
    if output.exists():
        raise ConfigError(f"--output {output} exists and is never overwritten: write another file")
    texts = tokens = 0
    temporary = temporary_path(output)
    try:
        with temporary.open("wb") as stream:
            for encoded in (row for path in files for batch in _texts(path, column) for row in encoder.encode(batch)):
                stream.write(np.array(encoded, dtype).tobytes())
                texts, tokens = texts + 1, tokens + len(encoded)
        temporary.rename(output)
    except OSError as error:
        raise ConfigError(f"cannot write --output {output}: {error.strerror}: write another file") from error
    finally:
        temporary.unlink(missing_ok=True)
    return f"prepared: texts={texts} tokens={tokens} classes={vocabulary} path={output}"


def _texts(path: Path, column: str) -> Iterator[list[str]]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ConfigError(f"{path} needs the package pyarrow: install it") from error
    try:
        opened = pyarrow.parquet.ParquetFile(path)
        field = opened.schema_arrow.field(column)
        if not (pyarrow.types.is_string(field.type) or pyarrow.types.is_large_string(field.type)):
            raise ConfigError(f"{path}: column {column} has {field.type}: write --column with a column of texts")
        for batch in opened.iter_batches(batch_size=_TEXTS_AT_ONCE, columns=[column]):
            yield batch.column(0).drop_null().to_pylist()
    except KeyError as error:
        names = ", ".join(opened.schema_arrow.names)
        raise ConfigError(f"{path} has no column {column}, but {names}: write --column with one of them") from error
    except (OSError, pyarrow.ArrowException) as error:
        raise ConfigError(f"cannot read {path}: {' '.join(str(error).split())}: write a Parquet file") from error


def _end_of_text(path: Path) -> str | None:
    """Returns the token that the configuration of a tokenizer names."""
    try:
        named = json.loads(path.read_text()).get("eos_token")
    except FileNotFoundError:
        return None
    except (OSError, ValueError, AttributeError) as error:
        raise ConfigError(f"cannot read {path}: {error}: write --end-of-text TOKEN, or remove the file") from error
    # Older tokenizers describe the token in an object.
    found = named.get("content") if isinstance(named, dict) else named
    return found if isinstance(found, str) else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
