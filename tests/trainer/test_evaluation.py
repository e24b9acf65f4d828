"""Evaluations between epochs, on a part of the test data, and runs without test data."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from prometheus_client import REGISTRY

from tests.harness.trainer.launch import start
from trainer import evaluate
from trainer.config import TrainerConfig, parse_flags
from trainer.data import load_data
from trainer.errors import ConfigError, DataError
from trainer.run import train
from trainer.runtime.distributed import World
from trainer.runtime.supervision import UNSUPERVISED
from trainer.trainer import Trainer


def evaluations(events: Path) -> list[dict[str, Any]]:
    """Returns the evaluations of a run, in order."""
    found = map(json.loads, events.read_text().splitlines())
    return [event for event in found if event["event"] == "evaluation"]


def write(folder: Path, *parts: str, classes: int = 3) -> Path:
    """Writes 12 images into each of the `parts`."""
    generator = np.random.default_rng(0)
    for part in parts:
        (folder / part).mkdir(parents=True)
        inputs = generator.random((12, 4, 4), dtype=np.float32)
        np.savez(folder / part / "a.npz", inputs=inputs, targets=np.arange(12) % classes)
    return folder


def test_a_run_is_evaluated_every_n_steps_and_once_at_the_end_of_an_epoch(
    alone: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    events = tmp_path / "events.jsonl"
    config = TrainerConfig(
        epochs=2, batch_size=300, eval_steps=2, events_file=str(events), checkpoint_dir=tmp_path / "run"
    )
    assert train(config, alone) == 0

    found, lines = evaluations(events), capsys.readouterr().out.splitlines()
    # An epoch has 5 steps. The fourth evaluation is at a step that is also the last one.
    assert [event["step"] for event in found] == [2, 4, 5, 6, 8, 10]
    assert all(event["test_loss"] > 0 and 0 < event["test_accuracy"] <= 1 for event in found)
    scores = [f"test_loss={event['test_loss']:.4f} test_accuracy={event['test_accuracy']:.4f}" for event in found]
    assert [line for line in lines if line.startswith("evaluated: ")] == [
        f"evaluated: step={step} {scores[number]}" for step, number in ((2, 0), (4, 1), (6, 3), (8, 4))
    ]
    assert lines[-1].startswith("finished: epochs=2 ")
    assert lines[-1].endswith(scores[-1])
    assert evaluate.main([str(tmp_path / "run")]) == 0
    assert f" step=10 {scores[-1]} parameters=" in capsys.readouterr().out


def test_a_run_that_resumes_is_not_evaluated_again_at_the_same_step(alone: World, tmp_path: Path) -> None:
    events = tmp_path / "events.jsonl"
    first, second = tmp_path / "first", tmp_path / "second"
    config = TrainerConfig(steps=2, batch_size=300, eval_steps=2, events_file=str(events), checkpoint_dir=first)
    assert train(config, alone) == 0
    # The first run still holds the lock of its directory, because the process continues.
    shutil.copytree(first, second)
    assert train(replace(config, steps=4, checkpoint_dir=second), alone) == 0

    assert [event["step"] for event in evaluations(events)] == [2, 4]


def test_a_limited_evaluation_does_not_depend_on_the_number_of_ranks(alone: World, tmp_path: Path) -> None:
    flags = ("--steps=3", "--batch-size=50", "--eval-steps=2", "--eval-batches=3", "--dropout=0")
    both = start(tmp_path / "both", *flags, f"--events-file={tmp_path}/both.jsonl", processes=2)
    config = parse_flags([*flags, f"--events-file={tmp_path}/one.jsonl", f"--checkpoint-dir={tmp_path}/one"])
    assert train(config, alone) == 0
    assert both.finish().returncode == 0
    one, two = (
        [(event["test_loss"], event["test_accuracy"]) for event in evaluations(tmp_path / f"{name}.jsonl")]
        for name in ("one", "both")
    )
    assert np.allclose(one, two, rtol=1e-5)
    # 3 batches of 50 of the 359 samples.
    assert [round(150 * accuracy, 6) % 1 for _, accuracy in one] == [0, 0]


def test_sigterm_ends_an_evaluation_between_epochs(
    alone: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = TrainerConfig(batch_size=300, eval_steps=2, checkpoint_dir=tmp_path)
    trainer = Trainer(config, alone, None, UNSUPERVISED)
    monkeypatch.setattr(trainer, "_is_told_to_stop", lambda: trainer._train_state.step == 2)
    assert not trainer.run()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("step-")] == ["step-00000002"]


def test_without_test_data_a_run_is_not_evaluated(
    alone: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, run = write(tmp_path / "data", "train"), tmp_path / "run"
    config = TrainerConfig(data="folder", data_dir=data, classes=3, epochs=1, checkpoint_dir=run)
    assert train(config, alone) == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"no evaluation: {data} has no folder test"
    assert any(re.fullmatch(r"epoch=1/1 loss=\S+ seconds=\S+ samples_per_second=\d+", line) for line in lines)
    assert re.fullmatch(r"finished: epochs=1 loss=\S+", lines[-1])
    assert evaluate.main([str(run)]) == 0
    assert re.match(r"checkpoint: epoch=1 step=1 parameters=\d+ ", capsys.readouterr().out)


def test_eval_steps_without_test_data_is_refused(alone: World, tmp_path: Path) -> None:
    data = write(tmp_path / "data", "train")
    config = TrainerConfig(data="folder", data_dir=data, classes=3, eval_steps=5, checkpoint_dir=tmp_path / "run")
    with pytest.raises(
        ConfigError, match=r"--eval-steps 5 needs test data, and .*/data has no folder test: write samp"
    ):
        train(config, alone)


@pytest.mark.parametrize("length", [80_000, 700_000])
def test_a_context_that_is_longer_than_the_test_text_is_refused_before_the_first_step(length: int) -> None:
    """As that of a model with 131,072 positions, which `init_from` names."""
    config = TrainerConfig(model="gpt", data="text", context_length=length)
    message = (
        rf"^--context-length must be at most \d{{5}} with data text, not {length}: for example --context-length 64$"
    )
    with pytest.raises(ConfigError, match=message):
        load_data(config)


def test_a_run_may_read_more_files_than_the_soft_limit_of_its_pod_allows(tmp_path: Path) -> None:
    (tmp_path / "train").mkdir()
    for number in range(150):
        np.arange(9, dtype="<u2").tofile(tmp_path / "train" / f"{number:03}.bin")
    flags = ("--model=gpt", "--data=folder", f"--data-dir={tmp_path}", "--context-length=8", "--steps=1")
    finished = start(tmp_path / "checkpoints", *flags, fault="few-open-files").finish()
    assert finished.returncode == 0, finished.stderr


def test_the_exporter_serves_the_last_evaluation(alone: World, tmp_path: Path) -> None:
    config = TrainerConfig(epochs=1, batch_size=300, checkpoint_dir=tmp_path, metrics_port=1)
    assert train(config, alone) == 0
    assert REGISTRY.get_sample_value("trainer_test_loss") > 0  # type: ignore[operator]


def test_samples_that_one_rank_cannot_read_end_the_run_on_all_with_one_error(tmp_path: Path) -> None:
    data = write(tmp_path / "data", "train")
    bad = np.zeros(12, np.int64)
    bad[7] = 3
    np.savez(data / "train" / "b.npz", inputs=np.zeros((12, 4, 4), np.float32), targets=bad)
    flags = (f"--data-dir={data}", "--data=folder", "--classes=3", "--batch-size=4", "--in-place-restarts=0")
    finished = start(tmp_path / "run", *flags, processes=2).finish()

    assert finished.returncode == 1
    assert finished.errors[0] == (
        f"trainer: error: {data}/train/b.npz, row 7 has class 3, and --classes is 3: write --classes with the number "
        "of classes, more than 3"
    )
    assert "DataError" not in finished.stderr, "a traceback"
    assert not list((tmp_path / "run").glob("step-*"))


def test_test_samples_that_cannot_be_read_end_the_run(alone: World, tmp_path: Path) -> None:
    data = write(tmp_path / "data", "train")
    write(data, "test", classes=4)
    config = TrainerConfig(data="folder", data_dir=data, classes=3, checkpoint_dir=tmp_path / "run")
    with pytest.raises(DataError, match=r"test/a\.npz, row 3 has class 3, and --classes is 3"):
        train(config, alone)
