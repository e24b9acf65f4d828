"""Programs that run beside each other until the simulation ends, in whichever way it ends."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.harness.cluster.errors import ClusterError
from tests.harness.processors import TICKS

STOP_SECONDS = 10
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass
class Processes:
    """The running programs by name. `folder` holds a log for each."""

    folder: Path
    _running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    _starts: bool = False
    _interrupted: bool = False

    def start(self, name: str, command: Sequence[str | Path], environment: Mapping[str, str] | None = None) -> None:
        """Start a program. It ends with this process, even if this process is killed."""
        with self._not_interrupted(), (self.folder / f"{name}.log").open("ab") as log:
            self._running[name] = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", *map(str, command)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=os.environ | dict(environment or {}),
                # Ctrl-C reaches this process alone, which then ends the programs in order.
                start_new_session=True,
            )

    @contextmanager
    def _not_interrupted(self) -> Iterator[None]:
        """Put an interruption off until the block ends: a program that starts during one would be known to nobody."""
        self._starts = True
        try:
            yield
        finally:
            self._starts = False
        if self._interrupted:
            raise KeyboardInterrupt

    def interrupt(self) -> None:
        """Raise `KeyboardInterrupt`, but not while a program starts."""
        self._interrupted = True
        if not self._starts:
            raise KeyboardInterrupt

    def check(self) -> None:
        """Raise `ClusterError` if a program has ended."""
        for name, process in self._running.items():
            if process.poll() is not None:
                log = (self.folder / f"{name}.log").read_text(errors="replace").splitlines()
                raise ClusterError(
                    f"{name} ended with exit status {process.returncode}:\n" + "\n".join(log[-8:]),
                    hint="run the same command again",
                )

    def stop(self, name: str) -> None:
        """End a program and wait until it is gone."""
        process = self._running.pop(name)
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def kill_all(self) -> None:
        """End all programs at once. In an orderly end, the API server would wait for its clients."""
        for process in self._running.values():
            process.kill()
        for process in self._running.values():
            process.wait()
        self._running.clear()

    @property
    def names(self) -> list[str]:
        """The names of the running programs."""
        return list(self._running)

    def processor_seconds(self, name: str) -> float:
        """Returns the processor time that a program has used."""
        fields = self._stat(name)
        return (int(fields[11]) + int(fields[12])) / TICKS

    def memory(self, name: str) -> int:
        """Returns the resident memory of a program in bytes."""
        return int(self._stat(name)[21]) * PAGE

    def _stat(self, name: str) -> list[str]:
        text = Path(f"/proc/{self._running[name].pid}/stat").read_text()
        return text.rpartition(") ")[2].split()


@contextmanager
def running(folder: Path) -> Iterator[Processes]:
    """Give a block its processes, and end them with it; SIGTERM and SIGINT end the block as Ctrl-C does.

    A shell that starts a command with `&` lets it ignore SIGINT.
    """
    processes = Processes(folder)

    def interrupt(_number: int, _frame: object) -> None:
        processes.interrupt()

    previous = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield processes
    finally:
        # A second Ctrl-C must not leave half of them.
        with contextlib.ExitStack() as stack:
            for number, handler in previous.items():
                stack.callback(signal.signal, number, handler)
                signal.signal(number, signal.SIG_IGN)
            processes.kill_all()
