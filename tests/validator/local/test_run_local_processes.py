"""The processes of a local run: start, output and end, with short programs instead of torchrun."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from tests.harness.processes import left_behind
from trainyard.commands.local import processes
from trainyard.commands.local.errors import MissingProgramError
from trainyard.commands.local.node import Node
from trainyard.commands.local.processes import Outcome

MARK = "TRAINYARD_TEST_RUN"
FOREVER = "import time; time.sleep(600)"
# The node itself sends the signal to its parent when it is ready, so that no test has to wait.
TELL_PARENT = "import os, signal; os.kill(os.getppid(), signal.SIGTERM)"
IGNORE = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)"


class Runs:
    """Runs programs as nodes, and records the notes about them."""

    def __init__(self, mark: str) -> None:
        self.mark = mark
        self.said: list[str] = []

    def __call__(self, *programs: str, grace: float = 600) -> Outcome:
        """Run the programs, one as each node."""
        nodes = [self.node(index, sys.executable, "-u", "-c", text) for index, text in enumerate(programs)]
        return self.run(nodes, grace)

    def node(self, index: int, *argv: str) -> Node:
        """Return a node."""
        return Node(f"node-{index}", argv, {MARK: self.mark}, (), {})

    def run(self, nodes: list[Node], grace: float = 600) -> Outcome:
        """Run nodes to their end, and assert that no process is left."""
        try:
            return processes.run_nodes(nodes, os.environ, grace, self.said.append)
        finally:
            assert left_behind(MARK, self.mark) == []


@pytest.fixture
def run(tmp_path: Path) -> Runs:
    """A runner for each test."""
    return Runs(str(tmp_path))


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a failure the other nodes are ended without a delay."""
    monkeypatch.setattr(processes, "PEERS_SECONDS", 0)


def test_a_run_ends_when_all_nodes_have_ended(run: Runs) -> None:
    assert run("pass", "pass") == Outcome({}, None)
    assert run.said == []


def test_lines_have_the_name_of_their_node_and_their_stream(
    run: Runs, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    run("import sys; print('a'); print(); sys.stdout.buffer.write(b'\\xff end')", "import sys; sys.exit('oops')")
    out, err = capfdbinary.readouterr()
    assert out == b"[node-0] a\n[node-0] \n[node-0] \xff end\n"
    assert err == b"[node-1] oops\n"


def test_each_update_of_a_progress_bar_is_a_line(run: Runs, capfd: pytest.CaptureFixture[str]) -> None:
    run("print('\\r 10%\\r 20%', end='\\r\\n'); print('done\\r\\nall', end='')")
    assert capfd.readouterr().out == "[node-0]  10%\n[node-0]  20%\n[node-0] done\n[node-0] all\n"


@pytest.mark.parametrize(
    ("variables", "expected"),
    [({}, "\033[36m[node-0]\033[0m a"), ({"NO_COLOR": "1"}, "[node-0] a"), ({"TERM": "dumb"}, "[node-0] a")],
    ids=["plain", "NO_COLOR", "dumb"],
)
def test_names_are_coloured_on_a_terminal_that_wants_it(
    run: Runs, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], expected: str
) -> None:
    for name, value in {"TERM": "xterm", "NO_COLOR": "", **variables}.items():
        monkeypatch.setenv(name, value)
    reader, terminal = os.openpty()
    with os.fdopen(reader, "rb", 0) as shown, os.fdopen(terminal, "w") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        run("print('a')")
        assert shown.readline().decode() == f"{expected}\r\n"


def test_large_output_on_both_streams_is_complete(run: Runs, capfd: pytest.CaptureFixture[str]) -> None:
    text = "import sys\nfor n in range(5000): print('x' * 50, n); print(n, file=sys.stderr)"
    run(text, text)
    out, err = (stream.splitlines() for stream in capfd.readouterr())
    for name in ("node-0", "node-1"):
        assert [line for line in out if name in line] == [f"[{name}] {'x' * 50} {n}" for n in range(5000)]
        assert [line for line in err if name in line] == [f"[{name}] {n}" for n in range(5000)]


@pytest.mark.usefixtures("impatient")
def test_a_failed_node_is_named_and_the_others_are_ended(run: Runs) -> None:
    assert run(FOREVER, "raise SystemExit(7)", FOREVER) == Outcome({"node-1": 7}, None)
    assert run.said == ["node-1 failed: SIGTERM to the others, SIGKILL in 600 s"]


@pytest.mark.usefixtures("impatient")
def test_a_killed_node_is_named_with_its_signal(run: Runs) -> None:
    outcome = run(FOREVER, "import os; os.kill(os.getpid(), 9)")
    assert outcome.failed == {"node-1": -signal.SIGKILL}


def test_nodes_that_fail_together_are_all_named(run: Runs) -> None:
    assert run("raise SystemExit(1)", "raise SystemExit(2)").failed == {"node-0": 1, "node-1": 2}


def test_a_signal_is_passed_on_to_the_nodes(run: Runs, capfd: pytest.CaptureFixture[str]) -> None:
    saves = f"""
import signal, sys, time
def save(*_):
    time.sleep(0.3); print("saved"); sys.exit(0)
signal.signal(signal.SIGTERM, save)
{TELL_PARENT}
{FOREVER}"""
    assert run(saves) == Outcome({}, signal.SIGTERM)
    assert capfd.readouterr().out == "[node-0] saved\n"
    assert run.said == ["SIGTERM to all nodes, SIGKILL in 600 s, or at once on a second signal"]


def test_a_node_that_exceeds_its_grace_period_is_killed(run: Runs) -> None:
    started = time.monotonic()
    assert run(f"{IGNORE}; {TELL_PARENT}; {FOREVER}", grace=0.2).signal == signal.SIGTERM
    assert time.monotonic() - started < 60


def test_a_second_signal_kills_at_once(run: Runs) -> None:
    started = time.monotonic()
    run(f"{IGNORE}; {TELL_PARENT}; import time; time.sleep(0.5); {TELL_PARENT}; {FOREVER}")
    assert time.monotonic() - started < 60


def test_ctrl_c_ends_a_run_as_well(run: Runs) -> None:
    # A shell lets background processes ignore SIGINT, which their children inherit.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert run(f"import os, signal; os.kill(os.getppid(), signal.SIGINT); {FOREVER}").signal == signal.SIGINT
    finally:
        signal.signal(signal.SIGINT, before)


def test_signal_handlers_are_restored(run: Runs) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    run("pass")
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == before


@pytest.mark.parametrize(
    "end", ["raise SystemExit(0)", "import os; os.kill(os.getpid(), 9)", f"{TELL_PARENT}; {FOREVER}"]
)
def test_the_children_of_a_node_do_not_outlive_it(run: Runs, end: str) -> None:
    """Like torchrun's workers, the children have their own sessions; they ignore SIGTERM."""
    child = f"{IGNORE}; print('up', flush=True); {FOREVER}"
    run(f"""
from subprocess import PIPE, Popen
for _ in range(2):
    Popen([{sys.executable!r}, "-c", {child!r}], start_new_session=True, stdout=PIPE).stdout.readline()
{end}""")


def test_a_missing_program_ends_the_nodes_that_have_started(run: Runs) -> None:
    nodes = [run.node(0, sys.executable, "-c", FOREVER), run.node(1, "/no/such/program")]
    with pytest.raises(MissingProgramError, match="/no/such/program cannot be started"):
        run.run(nodes)


def test_other_child_processes_are_not_affected(run: Runs) -> None:
    import subprocess

    with subprocess.Popen([sys.executable, "-c", FOREVER]) as other:
        run("pass")
        assert other.poll() is None
        other.kill()
