"""Programs of checks as forks of a process that has imported PyTorch, because the imports take most of a short run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.harness.trainer.environment import ENVIRONMENT
from tests.harness.trainer.fork_server import Forked, fork


class Program:
    """A fork; its log appears when it has ended."""

    def __init__(self, forked: Forked, log: Path) -> None:
        self.pid = forked.pid
        self._forked = forked
        self._log = log

    def poll(self) -> int | None:
        """Returns the exit status; none while the program runs."""
        status = self._forked.poll()
        if status is not None and not self._log.exists():
            self._log.write_text("".join(self._forked.communicate()))
        return status


def start(arguments: Sequence[str], variables: Mapping[str, str], log: Path) -> Program:
    """Starts a module; the ranks of a torchrun are forks too."""
    names = {"torch.distributed.run": "tests.harness.trainer.torchrun"}
    return Program(fork([names.get(word, word) for word in arguments], {**variables, **_SINGLE_THREADED}), log)


def start_server() -> None:
    """Starts the server. The runner kills the programs that a check starts, and the server is none of them."""
    fork(["platform"], ENVIRONMENT).wait()


_SINGLE_THREADED = {name: ENVIRONMENT[name] for name in ("OMP_NUM_THREADS", "GLOO_SOCKET_IFNAME")}
