"""The simulation of `make scale`, with 20 nodes, and its arithmetic."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.harness.cluster import cache
from tests.harness.processes import left_behind
from tools.generate import scale_picture
from tools.scale import control_plane, measuring, nodes, operators, page, placement, workloads
from tools.scale.control_plane import RAISED, STOCK, ControlPlane
from tools.scale.page import Results
from tools.scale.processes import STOP_SECONDS, running
from tools.scale.scenarios import Scenario
from tools.scale.workloads import JOB, PYTORCHJOB, Timing, Workload

NODES = 20
SECONDS = 120


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    """Start a control plane with 20 nodes and the training operator of our chart."""
    with cache.scratch("scale-test") as folder, running(folder) as processes:
        started = control_plane.start(folder, processes, RAISED)
        nodes.start(started)
        nodes.create(started, range(NODES))
        operators.install(started, operators.TRAINING_OPERATOR)
        workloads.prepare(started)
        yield started


@pytest.mark.parametrize(("kind", "services"), [(JOB, 0), (PYTORCHJOB, NODES)])
def test_a_run_on_all_nodes_is_timed_and_removed(plane: ControlPlane, kind: str, services: int) -> None:
    used: list[int] = []

    def inspect() -> None:
        names = plane.kubectl("get", "pods", "-n", workloads.NAMESPACE, "-o=jsonpath={.items[*].spec.nodeName}").split()
        used.append(len(set(names)))

    workload = Workload(kind, 1, NODES)
    assert workload.services == services
    timing = workloads.measure(plane, workload, seconds=SECONDS, report=print, inspect=inspect)

    assert used == [NODES]
    assert 0 < timing.created <= timing.scheduled <= timing.running <= timing.complete < SECONDS
    assert timing.used["kube-apiserver"].requests > NODES
    assert plane.kubectl("get", "pods,services", "-n", workloads.NAMESPACE, "--output=name") == ""


def test_the_webhook_of_the_operator_refuses_a_run_in_the_simulation(plane: ControlPlane) -> None:
    with pytest.raises(Exception, match="admission webhook"):
        plane.kubectl(
            *("create", "--filename=-"),
            stdin='{"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "none"}, "spec":'
            ' {"pytorchReplicaSpecs": {"Worker": {"template": {"spec": {"containers": [{"name": "other"}]}}}}}}',
        )


def test_the_idle_cluster_uses_memory_and_sends_requests(plane: ControlPlane) -> None:
    used = measuring.idle(plane, 2)
    assert set(used) == set(plane.processes.names)
    assert all(program.memory > 1 << 20 for program in used.values())
    assert used["kube-apiserver"].requests > 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_programs_at_once_even_one_that_ignores_sigterm(number: int, tmp_path: Path) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    began = 0.0
    try:
        with running(tmp_path) as processes:
            processes.start("stubborn", ["bash", "-c", "trap '' TERM; echo ready; sleep 1000 & wait"])
            while "ready" not in (tmp_path / "stubborn.log").read_text():
                time.sleep(0.01)
            began = time.monotonic()
            signal.raise_signal(number)
    except KeyboardInterrupt:
        assert time.monotonic() - began < STOP_SECONDS / 2
        assert processes.names == []
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    else:
        pytest.fail("the signal was ignored")
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_interruption_waits_for_the_program_that_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    popen = subprocess.Popen

    def interrupted(*arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        # The signal comes after the program started and before its process is known.
        started = popen(*arguments, **options)
        signal.raise_signal(signal.SIGTERM)
        return started

    mark = ("TRAINYARD_SCALE_TEST", str(time.time_ns()))
    monkeypatch.setenv(*mark)
    monkeypatch.setattr(subprocess, "Popen", interrupted)
    with pytest.raises(KeyboardInterrupt), running(tmp_path) as processes:
        processes.start("sleeper", ["sleep", "1000"])
    assert left_behind(*mark) == []


def test_an_interrupted_simulation_leaves_no_process_and_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    mark = ("TRAINYARD_SCALE_TEST", str(time.time_ns()))
    monkeypatch.setenv(*mark)
    command = [sys.executable, "-m", "tools.scale", "--nodes=5", "--most=5", "--no-write"]
    # As a shell starts a command with `&`.
    background = ["env", "--ignore-signal=INT", *command]
    with subprocess.Popen(background, stderr=subprocess.PIPE, text=True) as simulation:
        assert simulation.stderr is not None
        while "creating nodes" not in simulation.stderr.readline():
            assert simulation.poll() is None
        folder = cache.root() / "scratch" / f"scale-{simulation.pid}"
        assert folder.exists()
        assert len(left_behind(*mark)) > 1
        simulation.send_signal(signal.SIGINT)
        assert "interrupted" in simulation.stderr.read()

    assert simulation.returncode == 130
    assert left_behind(*mark) == []
    assert not folder.exists()


def test_the_fewest_racks_are_those_with_most_free_nodes() -> None:
    first, second, third = (range(rack * nodes.PER_RACK, (rack + 1) * nodes.PER_RACK) for rack in range(3))
    free = {*first[:4], *second[:9], *third[:6]}
    assert [placement.fewest(free, size) for size in (1, 9, 10, 15, 16, 19)] == [1, 1, 2, 2, 3, 3]


def timing(seconds: float) -> Timing:
    """Return a start that is complete after so many seconds."""
    used = {"kube-apiserver": measuring.Usage(memory=1 << 30, processor=5, requests=1000)}
    return Timing(created=1, scheduled=2, running=3, services=seconds, others=0, used=used)


def test_the_page_says_which_bars_hold(tmp_path: Path) -> None:
    job = Scenario(RAISED, "", Workload(JOB, 1, 100))
    stock, ours = (Scenario(RAISED, side, Workload(PYTORCHJOB, 1, 100)) for side in ("stock", "ours"))
    slow = Scenario(STOCK, "stock", Workload(PYTORCHJOB, 1, 100))
    results = Results(100, 0.5, [(job, timing(10)), (stock, timing(90)), (ours, timing(20)), (slow, None)])

    lines = list(page.lines(results))

    assert "| PyTorchJob: seconds above the Indexed Job | at most 12 | 10.0 | yes |" in lines
    assert "| PyTorchJob: times as fast as stock | at least 4 | 4.5 | yes |" in lines
    assert any(line.startswith("| stock | stock | PyTorchJob of 100 pods | not reached |") for line in lines)


def test_the_picture_has_a_bar_for_each_start_and_says_which_was_not_reached() -> None:
    results = Results(NODES, 0.0, starts=[(Scenario(STOCK, "stock", Workload(JOB, 1, NODES)), None)])
    page_text = "\n".join(page.lines(results))
    (start,) = scale_picture.starts(page_text)
    assert start == scale_picture.Start("stock", "stock", f"Indexed Job of {NODES} pods", None)
    recorded = scale_picture.starts((scale_picture.ROOT / scale_picture.PAGE).read_text())
    drawn = "\n".join(scale_picture.picture([*recorded, start]))
    assert drawn.count('<rect x="400"') == len(recorded) + 2
    assert ">not reached<" in drawn
