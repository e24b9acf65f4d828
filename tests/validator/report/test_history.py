"""The history of a run in its logs: those of a real run that was killed after step 155 and resumed from step 135."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainyard.commands.report.history import Restart, history

LOGS = Path(__file__).parent / "logs"
BEFORE, AFTER = ((LOGS / f"{name}.log").read_text() for name in ("before_kill", "after_resume"))


def test_a_repeated_step_has_the_value_of_the_newest_attempt() -> None:
    found = history([AFTER, BEFORE])
    speeds, newest, oldest = (
        dict(one.values("samples_per_second")) for one in (found, history([AFTER]), history([BEFORE]))
    )
    assert (found.unit, found.total) == ("step", 360)
    assert sorted(speeds) == list(range(5, 361, 5))
    assert speeds[155] == newest[155] != oldest[155]


def test_a_restart_has_the_repeated_steps_and_the_pause() -> None:
    (restart,) = history([BEFORE, AFTER]).restarts
    assert (restart.step, restart.repeated) == (135, 20)
    assert restart.pause == pytest.approx(6.88, abs=0.01)


def test_a_restart_without_the_log_before_it_has_neither() -> None:
    (restart,) = history([AFTER]).restarts
    assert restart == Restart(135, restart.time, None, None)


def test_every_saved_checkpoint_is_known() -> None:
    assert [save.step for save in history([BEFORE, AFTER]).saves] == list(range(45, 361, 45))


def test_the_time_of_a_step_is_that_between_lines_and_not_that_of_a_pause() -> None:
    seconds = history([BEFORE, AFTER]).step_seconds
    assert seconds is not None
    assert 0.001 < seconds < 0.05


def test_a_log_without_lines_by_step_has_a_history_by_epoch() -> None:
    epochs = "\n".join(line for line in (BEFORE + AFTER).splitlines() if " step=" not in line[:35])
    found = history([epochs])
    assert (found.unit, found.total, found.step_seconds) == ("epoch", 8, None)
    assert [at for at, _ in found.values("test_loss")] == [1, 2, 3, 4, 5, 6, 7, 8]


@pytest.mark.parametrize(
    "log", ["", "no time here\n", "2026-11-25T14:40:52Z step=/ loss=nan\n", "2026-13-45T00:00:00Z step=1/2 x"]
)
def test_a_log_of_another_program_has_no_history(log: str) -> None:
    found = history([log])
    assert (found.reports, found.saves, found.restarts, found.values("loss"), found.median("mfu")) == (
        [],
        [],
        [],
        [],
        None,
    )
