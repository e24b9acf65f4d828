"""Flags and the configuration file: each error says what to write instead."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.harness.trainer.launch import start
from trainer.config import TrainerConfig, parse_flags
from trainer.config.json_schema import json_schema
from trainer.config.option import flag
from trainer.errors import ConfigError


def trainer(*flags: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "trainer", *flags], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--epochs=0"], "--epochs must be at least 1, not 0: for example --epochs 3"),
        (["--epochs=three"], "argument --epochs: invalid int value: 'three'"),
        (["--set=epochs=three"], "--epochs must be a whole number, not 'three': for example --epochs 3"),
        (["--set=compile=1"], "--compile must be true or false, not 1: for example --compile false"),
        (["--set=epoch=3"], "there is no field epoch: did you mean epochs?"),
        (["--set=epochs"], "--set epochs: write --set key=value, for example --set epochs=3"),
        (["--config=nowhere.yaml"], "cannot read nowhere.yaml: No such file or directory"),
        (["--epoch=3"], "unrecognized arguments: --epoch=3: did you mean --epochs?"),
        (["--xyzzy"], "unrecognized arguments: --xyzzy: `python -m trainer --help` lists every flag"),
        (["--batch-size=-32"], "--batch-size must be at least 1, not -32"),
        (["--learning-rate=0"], "--learning-rate must be above 0, not 0.0"),
        (["--learning-rate=nan"], "--learning-rate must be above 0, not nan"),
        (["--learning-rate=inf"], "--learning-rate must be above 0, not inf"),
        (["--hidden-size=0"], "--hidden-size must be at least 1"),
        (["--dropout=1"], "--dropout must be at least 0 and below 1"),
        (["--seed=-1"], "--seed must be at least 0"),
        (["--keep-checkpoints=1"], "--keep-checkpoints must be at least 2, not 1"),
        (["--timeout-seconds=0"], "--timeout-seconds must be at least 1"),
        (["--model=resnet"], "--model must be one of mlp, cnn, gpt, llama, not resnet: for example --model mlp"),
        (["--model=gpt"], "--data digits has images, and model gpt reads tokens: for example --data text"),
        (["--data=text"], "--model mlp classifies images, and data text has tokens: for example --model gpt"),
        (
            ["--model=gpt", "--data=text", "--num-heads=3"],
            "--num-heads must divide hidden_size, which is 128, and 3 does not: for example --num-heads 2",
        ),
        (
            ["--model=llama", "--data=text", "--num-kv-heads=3"],
            "--num-kv-heads must divide num_heads, which is 4, and 3 does not: for example --num-kv-heads 2",
        ),
        (
            ["--model=llama", "--data=text", "--head-size=7"],
            "--head-size must be even, not 7: for example --head-size 64",
        ),
        (
            ["--min-learning-rate=0.01"],
            "--min-learning-rate must be at most learning_rate, which is 0.002, not 0.01: for example "
            "--min-learning-rate 0.0002",
        ),
        (["--adam-beta2=1"], "--adam-beta2 must be at least 0 and below 1, not 1.0: for example --adam-beta2 0.999"),
        (["--metrics-port=65536"], "--metrics-port must be at least 0 and at most 65535, not 65536"),
        # YAML reads a date, which does not exist, and a number that no float holds.
        (["--set=mlflow_run=2026-02-30"], "--set mlflow_run=2026-02-30: the value is not YAML; put it in quotes"),
        ([f"--set=learning_rate=1{400 * '0'}"], "--learning-rate must be a number, not 1000"),
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
        assert f"{flag(config_field.name)} " in finished.stdout
    assert "torchrun --nproc-per-node 2 -m trainer" in finished.stdout


def test_flags_fill_the_fields_of_their_name() -> None:
    config = parse_flags(["--epochs", "5", "--learning-rate", "0.1", "--checkpoint-dir", "/checkpoints"])
    assert config == TrainerConfig(epochs=5, learning_rate=0.1, checkpoint_dir=Path("/checkpoints"))


def test_a_configuration_survives_json() -> None:
    config = TrainerConfig(checkpoint_dir=Path("/checkpoints"), seed=2**62)
    assert TrainerConfig.from_json(json.loads(json.dumps(config.as_json()))) == config


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("epochs: 0", "{path}: epochs must be at least 1, not 0: for example `epochs: 3`"),
        ("epochs: many", "{path}: epochs must be a whole number, not 'many': for example `epochs: 3`"),
        ("lerning_rate: 1", "{path}: there is no field lerning_rate: did you mean learning_rate?"),
        ("- epochs", "{path} holds no mapping: write one line `field: value` for each field"),
        ("epochs: [", "{path} is not YAML: while parsing a flow node"),
        ("mlflow_run: 2026-02-30", "{path} is not YAML: day is out of range for month"),
        ("data: digits\nmodel: gpt", "{path}: data digits has images, and model gpt reads tokens: for example `data:"),
    ],
)
def test_an_error_in_the_file_uses_the_spelling_of_the_file(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "run.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as failure:
        parse_flags([f"--config={path}"])
    assert message.format(path=path) in str(failure.value)


def test_flags_win_over_the_file_and_set_over_flags(tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    path.write_text("epochs: 7\nbatch_size: 64\nlearning_rate: 1e-3\nseed: 5\n")
    config = parse_flags([f"--config={path}", "--batch-size=16", "--seed=1", "--set=seed=2"])
    assert (config.epochs, config.batch_size, config.learning_rate, config.seed) == (7, 16, 0.001, 2)


@given(st.builds(TrainerConfig, epochs=st.integers(1), learning_rate=st.floats(1e-9, 1), compile=st.booleans()))
def test_the_schema_accepts_what_the_trainer_accepts(config: TrainerConfig) -> None:
    jsonschema.validate(config.as_json(), json_schema())


@pytest.mark.parametrize(
    "wrong", [{"epochs": 0}, {"dropout": 1}, {"model": "resnet"}, {"epoch": 3}, {"compile": "yes"}]
)
def test_the_schema_refuses_what_the_trainer_refuses(wrong: dict[str, object]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, json_schema())


@pytest.mark.parametrize(
    ("wrong", "world_size", "message"),
    [
        ({"batch_size": 3}, 4, "--batch-size is 3 over all ranks, and there are 4: some would have nothing to do"),
        (
            {"strategy": "tensor", "batch_size": 1},
            4,
            "--batch-size is 1 over all ranks, and there are 4 in groups of 2, which take 2 parts: some would have",
        ),
        ({"strategy": "fsdp2", "shard_size": 3}, 4, "--shard-size must divide the 4 ranks, and 3 does not"),
        (
            {"strategy": "tensor"},
            3,
            "--tensor-size must divide the 3 ranks, and 2 does not: for example --tensor-size 1",
        ),
    ],
)
def test_a_field_that_does_not_suit_the_world_size_is_reported_with_one_that_does(
    wrong: dict[str, Any], world_size: int, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        TrainerConfig(**wrong).check_world_size(world_size)


def test_ranks_that_share_each_matrix_need_one_sample_only() -> None:
    config = TrainerConfig(strategy="tensor", tensor_size=2, batch_size=1)
    config.check_world_size(2)
    with pytest.raises(ConfigError, match="for example --batch-size 2"):
        config.check_world_size(4)


def test_torchrun_shows_rank_0_s_message_even_when_the_other_rank_fails_first(tmp_path: Path) -> None:
    finished = start(tmp_path / "checkpoints", "--batch-size=1", processes=2, fault="late").finish()
    assert finished.returncode != 0
    (error,) = finished.errors
    assert "--batch-size is 1 over all ranks, and there are 2: some would have nothing to do" in error
    # torchrun's summary ends with the first error, so that it stands last.
    summary = finished.stderr.partition("Root Cause (first observed failure):")[2]
    assert "exitcode  : 2" in finished.stderr
    assert summary.rstrip("=\n").splitlines()[-1] == f"  traceback : {error}"
    assert finished.lines == []
    assert not finished.directory.exists()
