"""Flags: each mistake is answered at once with what to write instead."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from trainer.config import TrainerConfig, parse_flags
from trainer.config.schema import flag
from trainer.errors import ConfigError

from .launch import start


def trainer(*flags: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "trainer", *flags], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--epochs=0"], "--epochs must be at least 1, not 0: for example --epochs 3"),
        (["--epochs=three"], "argument --epochs: invalid int value: 'three'"),
        (["--epoch=3"], "unrecognized arguments: --epoch=3: `python -m trainer --help` lists every flag"),
        (["--batch-size=-32"], "--batch-size must be at least 1, not -32"),
        (["--learning-rate=0"], "--learning-rate must be a finite number above 0, not 0.0"),
        (["--learning-rate=nan"], "--learning-rate must be a finite number above 0, not nan"),
        (["--learning-rate=inf"], "--learning-rate must be a finite number above 0, not inf"),
        (["--hidden-size=0"], "--hidden-size must be at least 1"),
        (["--dropout=1"], "--dropout must be at least 0 and below 1"),
        (["--seed=-1"], "--seed must be at least 0"),
        (["--keep-checkpoints=1"], "--keep-checkpoints must be at least 2, not 1"),
        (["--timeout-seconds=0"], "--timeout-seconds must be at least 1"),
        (["--metrics-port=65536"], "--metrics-port must be at least 0 and at most 65535, not 65536"),
    ],
)
def test_a_bad_flag_is_named_with_what_to_write_instead(flags: list[str], message: str) -> None:
    with pytest.raises(ConfigError) as failure:
        parse_flags(flags)
    assert message in str(failure.value)


def test_a_bad_flag_ends_the_program_with_status_2_and_one_line() -> None:
    finished = trainer("--epochs=0")
    assert finished.returncode == 2
    assert finished.stdout == ""
    assert finished.stderr == "trainer: error: --epochs must be at least 1, not 0: for example --epochs 3\n"


def test_help_explains_every_flag_and_gives_examples() -> None:
    finished = trainer("--help")
    assert finished.returncode == 0
    for config_field in fields(TrainerConfig):
        assert f"{flag(config_field)} " in finished.stdout
    assert "torchrun --nproc-per-node 2 -m trainer" in finished.stdout


def test_the_readme_lists_every_flag_with_its_default() -> None:
    readme = (Path(__file__).parents[2] / "trainer" / "README.md").read_text()
    listed = re.findall(r"^\| `(--[a-z-]+)` \| `(\S+)` \|", readme, re.MULTILINE)
    assert listed == [(flag(config_field), str(config_field.default)) for config_field in fields(TrainerConfig)]


def test_flags_fill_the_fields_of_their_name() -> None:
    config = parse_flags(["--epochs", "5", "--learning-rate", "0.1", "--checkpoint-dir", "/checkpoints"])
    assert config == TrainerConfig(epochs=5, learning_rate=0.1, checkpoint_dir=Path("/checkpoints"))


def test_a_configuration_survives_json() -> None:
    config = TrainerConfig(checkpoint_dir=Path("/checkpoints"), seed=2**62)
    assert TrainerConfig.from_json(json.loads(json.dumps(config.as_json()))) == config


@pytest.mark.parametrize(
    ("batch_size", "world_size", "choices"), [(32, 3, "30 or 33"), (2, 4, "4"), (100, 64, "64 or 128")]
)
def test_a_batch_size_that_the_ranks_cannot_share_is_answered_with_ones_that_they_can(
    batch_size: int, world_size: int, choices: str
) -> None:
    with pytest.raises(ConfigError, match=f"write --batch-size {choices} \\(any multiple of {world_size} works\\)"):
        TrainerConfig(batch_size=batch_size).check_world_size(world_size)


def test_torchrun_shows_rank_0_s_message_even_when_the_other_rank_fails_first(tmp_path: Path) -> None:
    finished = start(tmp_path / "checkpoints", "--batch-size=31", processes=2, fault="late").finish()
    assert finished.returncode != 0
    (error,) = finished.errors
    assert "--batch-size 31 is global and does not divide among 2 ranks: write --batch-size 30 or 32" in error
    assert "exitcode  : 2" in finished.stderr
    assert finished.lines == []
    assert not finished.directory.exists()
