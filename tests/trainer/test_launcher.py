"""The launcher whose ranks are forks of a server. Each launcher stands for a pod."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.harness.trainer.environment import ENVIRONMENT
from tests.harness.trainer.fork_server import fork
from tests.harness.trainer.launch import TIMEOUT_SECONDS, wait_until
from tests.trainer.test_lost_nodes import Nodes
from trainer import launcher
from trainer.errors import ConfigError


def ranks_of(process: int) -> list[int]:
    """Returns the processes without children below this one: ranks, and what else its supervisors have started."""
    children = [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    return [rank for child in children for rank in ranks_of(child)] or [process]


def test_forked_ranks_meet_start_again_in_place_and_save_before_they_end(tmp_path: Path) -> None:
    nodes = Nodes(tmp_path, "--epochs=1000", "--hang-seconds=100", launcher="trainer.launcher")
    try:
        starts = len(nodes.starts)
        # The process that trains has used most processor time.
        training = max(ranks_of(nodes.second.pid), key=lambda rank: processor_ticks(rank))
        os.kill(training, signal.SIGKILL)
        wait_until(lambda: len(nodes.starts) > starts)
        wait_until(lambda: nodes.last_step > nodes.starts[-1].step)
        assert nodes.starts[-1].world_size == 2
        for node in (nodes.first, nodes.second):
            node.terminate()
        outputs = [node.communicate(timeout=TIMEOUT_SECONDS) for node in (nodes.first, nodes.second)]

        assert "killed by SIGKILL: starts again in its place" in outputs[1][1]
        assert any("stopped by SIGTERM: step=" in stdout for stdout, _ in outputs)
        wait_until(lambda: not nodes.first.family() and not nodes.second.family())
    finally:
        nodes.close()


def processor_ticks(process: int) -> int:
    """Returns the user time of a process."""
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11])


def test_an_import_that_starts_a_thread_is_refused() -> None:
    flags = ("--nnodes=1:2", "--rdzv-backend=c10d", "--rdzv-endpoint=127.0.0.1:1", "-m", "trainer")
    refused = fork(["tests.trainer.threaded_import", *flags], ENVIRONMENT)
    _, stderr = refused.communicate(timeout=TIMEOUT_SECONDS)

    assert refused.returncode == ConfigError.exit_code
    assert "a package starts 2 threads while it is imported: use torchrun" in stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train.py"], r"train\.py is not this trainer: write `-m trainer`, or use torchrun"),
        (["-m", "package.train"], r"package\.train is not this trainer"),
        (["-m", "trainer"], "there is no --rdzv-endpoint to meet other nodes at"),
    ],
)
def test_other_programs_and_runs_of_one_node_are_for_torchrun(
    arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("multiprocessing.forkserver.ensure_running", lambda: None)
    with pytest.raises(ConfigError, match=message):
        launcher.main(arguments)
