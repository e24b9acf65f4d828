"""Texts in Parquet files become token files."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from tokenizers import Tokenizer, models, pre_tokenizers

from tests.harness.trainer.environment import ENVIRONMENT
from trainer import prepare
from trainer.config import TrainerConfig
from trainer.data.folder import load_folder
from trainer.errors import ConfigError

ROOT = Path(__file__).parents[2]
WORDS = {"a": 0, "b": 1, "c": 2, "<end>": 3, "<unknown>": 4}


def write_tokenizer(folder: Path, config: dict[str, Any] | None, words: dict[str, int] = WORDS) -> Path:
    """Writes a tokenizer whose tokens are words, as Hugging Face's packages do."""
    folder.mkdir()
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="<unknown>"))  # noqa: S106 - a token of text
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    if config is not None:
        (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return folder


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """A file of three texts and a null."""
    pq.write_table(pa.table({"text": ["a b", None, "c", "b z a"], "id": [1, 2, 3, 4]}), tmp_path / "texts.parquet")
    return tmp_path / "texts.parquet"


@pytest.mark.parametrize(
    ("config", "flags", "tokens"),
    [
        ({"eos_token": "<end>"}, [], [0, 1, 3, 2, 3, 1, 4, 0, 3]),
        ({"eos_token": {"content": "<end>"}}, [], [0, 1, 3, 2, 3, 1, 4, 0, 3]),
        ({"eos_token": "<end>"}, ["--end-of-text=c"], [0, 1, 2, 2, 2, 1, 4, 0, 2]),
        (None, [], [0, 1, 2, 1, 4, 0]),
    ],
)
def test_texts_become_tokens_that_a_run_reads(
    texts: Path,
    tmp_path: Path,
    config: dict[str, Any] | None,
    flags: list[str],
    tokens: list[int],
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "data" / "train").mkdir(parents=True)
    output = tmp_path / "data" / "train" / "a.bin"
    folder = write_tokenizer(tmp_path / "tokenizer", config)
    assert prepare.main([str(texts), f"--tokenizer={folder}", f"--output={output}", *flags]) == 0

    assert np.fromfile(output, "<u2").tolist() == tokens
    assert capsys.readouterr().out == f"prepared: texts=3 tokens={len(tokens)} classes=5 path={output}\n"
    data = load_folder(
        TrainerConfig(data="folder", data_dir=tmp_path / "data", model="gpt", classes=5, context_length=2)
    )
    assert data.training.take(np.array([1])).inputs.tolist() == [tokens[2:4]]


def test_a_large_vocabulary_has_tokens_of_four_bytes(texts: Path, tmp_path: Path) -> None:
    folder = write_tokenizer(tmp_path / "tokenizer", None, WORDS | {"last": 70_000})
    encoder = prepare.Encoder.read(folder, None)
    with pytest.raises(ConfigError, match=r"a vocabulary of 70001 needs: write --output .*/a\.uint32\.bin"):
        prepare.prepare([texts], encoder, tmp_path / "a.bin", "text")
    prepare.prepare([texts], encoder, tmp_path / "a.uint32.bin", "text")
    assert np.fromfile(tmp_path / "a.uint32.bin", "<u4").tolist() == [0, 1, 2, 1, 4, 0]


def test_texts_are_neither_cut_off_nor_filled_up_by_the_settings_of_a_tokenizer(texts: Path, tmp_path: Path) -> None:
    folder = write_tokenizer(tmp_path / "tokenizer", None)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    # As transformers saves a tokenizer that it has called with truncation and padding.
    tokenizer.enable_truncation(1)
    tokenizer.enable_padding(length=2, pad_token="<unknown>", pad_id=4)  # noqa: S106 - a token of text
    tokenizer.save(str(folder / "tokenizer.json"))
    prepare.prepare([texts], prepare.Encoder.read(folder, None), tmp_path / "a.bin", "text")
    assert np.fromfile(tmp_path / "a.bin", "<u2").tolist() == [0, 1, 2, 1, 4, 0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"--column": "words"}, "has no column words, but text, id: write --column with one of them"),
        ({"--column": "id"}, "column id has int64: write --column with a column of texts"),
        ({"--tokenizer": "nowhere"}, "cannot read --tokenizer nowhere/tokenizer.json: No such file or directory"),
        ({"--end-of-text": "<eos>"}, "tokenizer.json has no token <eos>: write --end-of-text with a token"),
        ({"--output": "nowhere/a.bin"}, "cannot write --output nowhere/a.bin: No such file or directory"),
        ({"--output": "tokens.uint32.bin"}, "which a vocabulary of 5 needs: write --output tokens.bin"),
    ],
)
def test_a_wrong_argument_is_reported(
    texts: Path, tmp_path: Path, changes: dict[str, str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = {"--tokenizer": str(write_tokenizer(tmp_path / "tokenizer", None)), "--output": str(tmp_path / "a.bin")}
    assert prepare.main([str(texts), *(f"{name}={value}" for name, value in (flags | changes).items())]) == 2

    assert message in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["texts.parquet", "tokenizer"]


def test_files_that_are_no_parquet_and_existing_files_are_reported(tmp_path: Path) -> None:
    encoder = prepare.Encoder.read(write_tokenizer(tmp_path / "tokenizer", None), None)
    (tmp_path / "texts.parquet").write_text("a text, not Parquet")
    with pytest.raises(ConfigError, match=r"cannot read .*/texts\.parquet: Parquet magic bytes not found"):
        prepare.prepare([tmp_path / "texts.parquet"], encoder, tmp_path / "a.bin", "text")
    (tmp_path / "a.bin").touch()
    with pytest.raises(ConfigError, match=r"--output .*/a\.bin exists and is never overwritten"):
        prepare.prepare([tmp_path / "texts.parquet"], encoder, tmp_path / "a.bin", "text")


def test_the_missing_package_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(ConfigError, match="--tokenizer needs the package tokenizers: install it"):
        prepare.Encoder.read(tmp_path, None)


def test_a_run_on_texts_is_refused_with_the_command_that_prepares_them(texts: Path, tmp_path: Path) -> None:
    (tmp_path / "data" / "train").mkdir(parents=True)
    texts.rename(tmp_path / "data" / "train" / "texts.parquet")
    config = TrainerConfig(data="folder", data_dir=tmp_path / "data", model="gpt", classes=5)
    with pytest.raises(
        ConfigError, match=r"texts\.parquet has texts: write their tokens with python -m trainer\.prepare"
    ):
        load_folder(config)


def test_the_script_of_the_guide_writes_what_a_run_reads_and_may_run_again(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "how-to" / "texts.md").read_text()
    (values,) = re.findall(r"```yaml\n(# texts\.yaml\n.*?)```", page, re.DOTALL)
    *shell, script = yaml.safe_load(values)["train"]["command"]
    write_tokenizer(tmp_path / "gpt2", None, WORDS | {"<|endoftext|>": 5})
    (tmp_path / "stories" / "data").mkdir(parents=True)
    for name in ("train-0", "train-1", "validation-0"):
        pq.write_table(pa.table({"text": ["a b", "c"]}), tmp_path / "stories" / "data" / f"{name}.parquet")

    for _ in range(2):
        subprocess.run(
            [*shell, script.replace(" /data/", f" {tmp_path}/")],
            cwd=ROOT,
            env=ENVIRONMENT | {"PYTHONPATH": str(ROOT)},
            check=True,
        )

    config = TrainerConfig(data="folder", data_dir=tmp_path / "tokens", model="gpt", classes=6, context_length=4)
    data = load_folder(config)
    assert data.training.take(np.array([0])).inputs.tolist() == [[0, 1, 5, 2]]
    assert data.test is not None
