"""Processes that have imported PyTorch and the trainer before they start: forks of a server that imports them once.

The imports take several times the processor time of a short run, in every process of it. A fork runs the same modules
with the same arguments, environment and output as `python -m` would.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, NoReturn

from tests.harness.trainer.environment import ENVIRONMENT

PRELOADED = ("torch._dynamo", "torch.distributed.run", "trainer.run", "trainer.runtime.supervisor")
# A request holds the arguments and the environment.
REQUEST_BYTES = 1 << 18
DESCRIPTORS = 3


class Forked:
    """A fork of the server: the part of `subprocess.Popen` that tests use. Its output goes to files."""

    def __init__(self, pid: int, status: socket.socket, stdout: IO[str], stderr: IO[str]) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._status = status
        self._output = (stdout, stderr)

    def poll(self) -> int | None:
        """Returns the exit status; none while the process runs."""
        return self._read_status(0)

    def wait(self, timeout: float | None = None) -> int:
        """Waits for the end and returns the exit status.

        Raises:
            subprocess.TimeoutExpired: The process still runs after `timeout` seconds.
        """
        status = self._read_status(timeout)
        if status is None:
            raise subprocess.TimeoutExpired("a fork", timeout or 0)
        return status

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Waits for the end and returns stdout and stderr."""
        self.wait(timeout)
        stdout, stderr = (self._text(file) for file in self._output)
        return stdout, stderr

    def terminate(self) -> None:
        """Sends SIGTERM, unless the process has ended."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Sends SIGKILL, unless the process has ended."""
        self.send_signal(signal.SIGKILL)

    def send_signal(self, number: int) -> None:
        """Sends a signal, unless the process has ended."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def family(self) -> list[int]:
        """Returns the living processes that write to the stderr of this one: it and those that it has started."""
        ours = os.fstat(self._output[1].fileno())
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            # The process may end meanwhile, or belong to another user.
            with contextlib.suppress(OSError):
                if os.path.samestat(ours, (process / "fd" / "2").stat()):
                    found.append(int(process.name))
        return found

    def _read_status(self, timeout: float | None) -> int | None:
        if self.returncode is None and select.select([self._status], [], [], timeout)[0]:
            self.returncode = int(self._status.recv(32))
            self._status.close()
        return self.returncode

    @staticmethod
    def _text(file: IO[str]) -> str:
        file.seek(0)
        return file.read()


def fork(arguments: Sequence[str], environment: Mapping[str, str], *, anew: bool = False) -> Forked:
    """Starts a module, or a file whose name ends with `.py`, with its arguments in a fork of the server.

    The environment applies to what is read after the imports; a variable that a library reads while it is imported,
    such as `OMP_NUM_THREADS`, has no effect. With `anew` the fork starts Python, as a user would.
    """
    stdout, stderr = (tempfile.TemporaryFile("w+") for _ in range(2))  # noqa: SIM115 - read when the process has ended
    # Each message is read by itself: the process may have ended before its id is read.
    status, reports = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with reports:
        request = json.dumps([list(arguments), dict(environment), anew]).encode()
        descriptors = [stdout.fileno(), stderr.fileno(), reports.fileno()]
        assert len(descriptors) == DESCRIPTORS
        socket.send_fds(_server()[0], [request], descriptors)
    return Forked(int(status.recv(32)), status, stdout, stderr)


def become(arguments: Sequence[str], environment: Mapping[str, str]) -> NoReturn:
    """Runs a module, or a file, in this process as `python` would, and ends the process."""
    os.environ.clear()
    os.environ.update(environment)
    program, *sys.argv[1:] = arguments
    finish(functools.partial(_run, program))


def finish(program: Callable[[], object]) -> NoReturn:
    """Calls a program in this process, and ends the process as `python` would."""
    status = _status_of(program) or _status_of(atexit._run_exitfuncs)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _run(program: str) -> None:
    if not program.endswith(".py"):
        runpy.run_module(program, run_name="__main__", alter_sys=True)
        return
    sys.path.insert(0, str(Path(program).parent))
    runpy.run_path(program, run_name="__main__")


def _status_of(program: Callable[[], object]) -> int:
    try:
        program()
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def stop() -> None:
    """Ends the server of this process, if it has one."""
    if _server.cache_info().currsize:
        connection, process = _server()
        connection.close()
        process.wait()
        _server.cache_clear()


@functools.cache
def _server() -> tuple[socket.socket, subprocess.Popen[bytes]]:
    """Returns the connection to this process's server, which ends when the connection closes."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.harness.trainer.fork_server", str(theirs.fileno())],
            env=ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
        )
    return ours, process


def _serve(server: socket.socket) -> None:
    while True:
        request, descriptors, _, _ = socket.recv_fds(server, REQUEST_BYTES, DESCRIPTORS)
        if not request:
            return
        # The keeper waits for the process, so that the server does not have to.
        if not os.fork():
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            server.close()
            _keep(*json.loads(request), *descriptors)
        for descriptor in descriptors:
            os.close(descriptor)


def reap(*_: object) -> None:
    """Waits for the children that have ended: the handler of SIGCHLD in a server."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _keep(
    arguments: list[str], environment: dict[str, str], anew: bool, stdout: int, stderr: int, reports: int
) -> NoReturn:
    process = os.fork()
    if not process:
        os.dup2(stdout, 1)
        os.dup2(stderr, 2)
        for descriptor in (stdout, stderr, reports):
            os.close(descriptor)
        if anew:
            os.execve(sys.executable, [sys.executable, "-m", *arguments], environment)  # noqa: S606
        become(arguments, environment)
    os.write(reports, str(process).encode())
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    os.write(reports, str(status).encode())
    os._exit(0)


def main(descriptor: int) -> None:
    """Serves requests from this socket."""
    # Waited for, a process adds to the processor time of its parent, which the steps of `make test` report.
    signal.signal(signal.SIGCHLD, reap)
    for name in PRELOADED:
        importlib.import_module(name)
    if len(os.listdir("/proc/self/task")) > 1:  # noqa: PTH208
        raise RuntimeError("this process has threads, and forks of it may hang")
    # A garbage collection in a fork would write to, and so copy, the memory pages that it shares with the server.
    gc.collect()
    gc.freeze()
    with socket.socket(fileno=descriptor) as server:
        _serve(server)


if __name__ == "__main__":
    main(int(sys.argv[1]))
