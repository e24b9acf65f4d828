"""The launcher whose ranks are forks of a server. Each launcher stands for a pod."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.harness.ports import free_port
from tests.harness.trainer.environment import ENVIRONMENT
from tests.harness.trainer.fork_server import fork
from tests.harness.trainer.launch import TIMEOUT_SECONDS, wait_until
from tests.trainer.test_lost_nodes import Nodes
from trainer import launcher
from trainer.errors import ConfigError
from trainer.runtime import rank_server

# Writes a line for each process that looks for PyTorch. A fork of a process that has it does not look.
COUNTS_IMPORTS = """
import os, sys
class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "torch":
            with open(os.environ["IMPORTS"], "a") as log:
                print(name, file=log)
sys.meta_path.insert(0, Finder)
"""


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


def test_one_process_of_a_node_imports_pytorch(tmp_path: Path) -> None:
    """The server is a fork of the agent, and the ranks are forks of the server."""
    log = tmp_path / "imports"
    (tmp_path / "sitecustomize.py").write_text(COUNTS_IMPORTS)
    flags = ["--nnodes=1:1", "--rdzv-backend=c10d", f"--rdzv-endpoint=127.0.0.1:{free_port()}", "-m", "trainer"]
    flags += ["--epochs=1", f"--checkpoint-dir={tmp_path / 'run'}"]
    path = os.pathsep.join([str(tmp_path), ENVIRONMENT.get("PYTHONPATH", "")])
    variables = {**ENVIRONMENT, "PYTHONPATH": path, "IMPORTS": str(log)}
    node = fork(["trainer.launcher", *flags], variables, anew=True)
    _, stderr = node.communicate(timeout=TIMEOUT_SECONDS)

    assert node.returncode == 0, stderr
    assert log.read_text().split() == ["torch"]
    assert "nanobind: leaked" not in stderr
    wait_until(lambda: not node.family())


def processor_ticks(process: int) -> int:
    """Returns the user time of a process."""
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11])


@pytest.mark.parametrize("process", ["_PRELOADED", "_PRELOADED_IN_SERVER"])
def test_an_import_that_starts_a_thread_is_refused(process: str) -> None:
    flags = ("--nnodes=1:2", "--rdzv-backend=c10d", "--rdzv-endpoint=127.0.0.1:1", "-m", "trainer")
    refused = fork(["tests.trainer.threaded_import", *flags], {**ENVIRONMENT, "IMPORTED_BY": process})
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
    monkeypatch.setattr(rank_server, "start", lambda _modules, **_options: None)
    with pytest.raises(ConfigError, match=message):
        launcher.main(arguments)
