"""torchrun whose ranks are forks: `python -m tests.harness.trainer.torchrun [arguments of torchrun]`.

Everything is torchrun's own except for the start of a rank. Instead of a new Python, a rank is a child that was forked
before torchrun starts threads, and waits for its arguments. The processes have the same parents as without forks.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn

import torch.distributed.run
from torch.distributed.elastic.multiprocessing.subprocess_handler import SubprocessHandler
from torch.distributed.elastic.rendezvous import dynamic_rendezvous

from tests.harness.trainer.fork_server import REQUEST_BYTES, become


class Rank:
    """A child that waits for its arguments: the part of `subprocess.Popen` that torchrun uses."""

    def __init__(self, earlier: Sequence[Rank]) -> None:
        self.returncode: int | None = None
        self._requests, requests = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with requests:
            self.pid = os.fork()
            if not self.pid:
                # The end of torchrun closes its sockets, and so ends a rank that still waits.
                for socket_of_torchrun in (self._requests, *(rank._requests for rank in earlier)):
                    socket_of_torchrun.close()
                _run(requests)
        self._handle = os.pidfd_open(self.pid)

    def begin(self, arguments: Sequence[str], environment: Mapping[str, str]) -> Rank:
        """Lets the child run."""
        self._requests.send(json.dumps([arguments, dict(environment)]).encode())
        return self

    def poll(self) -> int | None:
        """Returns the exit status; none while the process runs."""
        return self._ended(0)

    def wait(self, timeout: float | None = None) -> int:
        """Waits for the end and returns the exit status.

        Raises:
            subprocess.TimeoutExpired: The process still runs after `timeout` seconds.
        """
        status = self._ended(timeout)
        if status is None:
            raise subprocess.TimeoutExpired("a rank", timeout or 0)
        return status

    def _ended(self, timeout: float | None) -> int | None:
        if self.returncode is None and select.select([self._handle], [], [], timeout)[0]:
            self.returncode = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
            os.close(self._handle)
        return self.returncode


def _run(requests: socket.socket) -> NoReturn:
    request = requests.recv(REQUEST_BYTES)
    requests.close()
    if not request:
        os._exit(0)
    arguments, environment = json.loads(request)
    os.setsid()
    # As torchrun starts Python with `-u`.
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(write_through=True)  # type: ignore[union-attr]
    become(arguments, environment)


def main(arguments: list[str]) -> None:
    """Runs torchrun."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--nproc-per-node", type=int, required=True)
    parser.add_argument("--max-restarts", type=int, default=0)
    options = parser.parse_known_args(arguments)[0]
    waiting: list[Rank] = []
    for _ in range(options.nproc_per_node * (1 + options.max_restarts)):
        waiting.append(Rank(waiting))

    def start(_: SubprocessHandler, command: tuple[str, ...], environment: dict[str, str]) -> Rank:
        # Python, its flag `-u`, and then `-m` or nothing.
        return waiting.pop(0).begin(command[3 if command[2] == "-m" else 2 :], environment)

    SubprocessHandler._popen = start  # type: ignore[method-assign, assignment]
    # It reads the whole stack to name the caller in a log that is off. With the frames of runpy and the modules of the
    # fork server, this takes so long on a busy machine that a joining node always writes a stale state and never joins.
    dynamic_rendezvous.get_method_name = lambda _depth=2: ""
    torch.distributed.run.main(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
