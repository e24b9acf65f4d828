"""The steps of `make test`: which of them run beside each other, and what is left and shown when one fails."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness import processors
from tests.harness.cluster.progress import console
from tests.harness.processes import left_behind
from tools import steps
from tools.steps import Outcome, Result, Step

# Stands in for make: a step's target is the name of a shell script.
MAKE = ("sh", "-eu")


@pytest.fixture(autouse=True)
def folder(own_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the scripts of a test are."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def script(name: str, text: str) -> str:
    Path(name).write_text(text)
    return name


def outcomes(*found: Step) -> dict[str, Outcome]:
    return {result.target: result.outcome for result in steps.run(found, make=MAKE)}


def test_a_failed_step_keeps_only_those_from_running_that_need_it() -> None:
    script("bad", "exit 3")
    script("good", "true")
    script("needy", "touch needy-has-run")
    script("last", "touch last-has-run")

    found = outcomes(Step("bad"), Step("good"), Step("needy", needs=("bad",)), Step("last", after=("needy", "good")))

    assert found == {
        "bad": Outcome.FAILED,
        "good": Outcome.PASSED,
        "needy": Outcome.SKIPPED,
        "last": Outcome.PASSED,
    }
    assert not Path("needy-has-run").exists()
    assert Path("last-has-run").exists()


def test_steps_that_do_not_need_each_other_run_at_the_same_time() -> None:
    meet = "touch {own}-is-here; until [ -e {other}-is-here ]; do sleep 0.05; done"
    script("one", meet.format(own="one", other="two"))
    script("two", meet.format(own="two", other="one"))

    assert outcomes(Step("one"), Step("two")) == {"one": Outcome.PASSED, "two": Outcome.PASSED}


def test_a_step_waits_for_those_that_it_needs_and_those_that_it_comes_after() -> None:
    script("needed", "touch needed-has-ended")
    script("before", "touch before-has-ended")
    script("then", "test -e needed-has-ended; test -e before-has-ended")

    found = outcomes(Step("then", needs=("needed",), after=("before", "elsewhere")), Step("before"), Step("needed"))

    assert found["then"] == Outcome.PASSED


@pytest.mark.skipif(not Path("/proc/self/autogroup").exists(), reason="the kernel does not schedule by session")
def test_a_step_yields_the_processor_to_steps_of_other_sessions() -> None:
    script("polite", "until grep -q 'nice 7' /proc/self/autogroup; do sleep 0.05; done")

    assert outcomes(Step("polite", nice=7)) == {"polite": Outcome.PASSED}


def test_the_output_of_a_failed_step_is_shown_whole_and_that_of_others_is_kept(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    script("bad", "echo [first] line; echo last line >&2; exit 1")
    script("good", "echo nothing new; echo '==== 7 passed, 2 skipped in 1.50s (0:00:01) ===='")

    results = steps.run([Step("bad"), Step("good")], make=MAKE)

    shown = capsys.readouterr().err
    assert "[first] line\nlast line\n" in shown
    assert "nothing new" not in shown
    assert "nothing new" in (folder / "logs" / "step-good.log").read_text()
    assert [result.tests for result in results] == ["", "7 passed, 2 skipped"]


def test_the_table_has_a_row_for_each_step_in_the_order_in_which_they_began(
    capsys: pytest.CaptureFixture[str],
) -> None:
    late = Result("late", Outcome.FAILED, start=60, seconds=30, processor_seconds=45, idle=0.257, tests="1 failed")
    early = Result("early", Outcome.PASSED, start=1, seconds=59, processor_seconds=20)

    console.print(steps.table([late, early], 90))

    rows = [line.split() for line in capsys.readouterr().err.splitlines() if "early" in line or "late" in line]
    assert [[word for word in row if word not in "│┃"] for row in rows] == [
        ["early", "1", "59", "20", "0%", "passed"],
        ["late", "60", "30", "45", "26%", "failed,", "1", "failed"],
    ]


def test_the_idle_share_is_what_programs_have_left_of_the_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 4)

    assert processors.idle_share(busy=10, seconds=10) == 0.75
    assert processors.idle_share(busy=40.1, seconds=10) == 0


def test_a_step_that_computes_leaves_less_idle_time_than_the_machine_has() -> None:
    (result,) = steps.run([Step(script("computes", "i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done"))], make=MAKE)

    assert 0 <= result.idle < 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_no_process(number: signal.Signals, folder: Path) -> None:
    script("endless", "sleep 600 & touch asleep; wait")
    program = f"from tools import steps; steps.run([steps.Step('endless')], make={MAKE!r})"
    mark = {"PYTHONPATH": str(Path(steps.__file__).parents[1]), "STEPS_OF": str(folder)}
    running = subprocess.Popen([sys.executable, "-c", program], env=os.environ | mark, stderr=subprocess.DEVNULL)
    while not (folder / "asleep").exists():
        assert running.poll() is None
    running.send_signal(number)

    assert running.wait() != 0
    # A killed process is gone when the kernel gets to it; the test's own limit of time holds.
    while left_behind("STEPS_OF", str(folder)):
        pass


def test_every_step_is_a_target_of_the_makefile() -> None:
    makefile = (Path(steps.__file__).parents[1] / "Makefile").read_text()
    targets = {line.split(":")[0] for line in makefile.splitlines() if ":" in line and not line.startswith(("\t", "."))}

    assert {step.target for goal in steps.GOALS.values() for step in goal} <= targets
