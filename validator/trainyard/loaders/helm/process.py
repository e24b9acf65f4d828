"""Runs Helm with limits of time, memory and output: a template of a hundred bytes can ask for any amount of them."""

from __future__ import annotations

import contextlib
import os
import select
import selectors
import subprocess
import time
from collections.abc import Mapping
from typing import IO, Any

# Address space of Helm, of which it uses little; templates can ask for any amount.
MAX_MEMORY = 4 * 2**30
_CHUNK = 64 * 1024


class OutputError(Exception):
    """A program that prints more than it may."""


def run_limited(
    command: list[str], given: bytes, env: Mapping[str, str], seconds: float, most: int
) -> tuple[int, bytes, bytes]:
    """Returns the exit status, the output and the errors of a program that gets `given` as its input.

    The program ends once its output or its errors have more than `most` bytes.

    Raises:
        OutputError: It prints more than that.
        subprocess.TimeoutExpired: It takes more than `seconds`.
    """
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=env) as process:
        try:
            _limit_memory(process.pid)
            end = time.monotonic() + seconds
            output, errors = _exchanged(process, given, end, most)
            status = process.wait(max(0.0, end - time.monotonic()))
        except BaseException:
            process.kill()
            raise
    return status, output, errors


def _exchanged(process: subprocess.Popen[bytes], given: bytes, end: float, most: int) -> tuple[bytes, bytes]:
    """Writes the input while it reads, as `communicate` does, which has no limit."""
    read: dict[Any, bytearray] = {process.stdout: bytearray(), process.stderr: bytearray()}
    source, rest = _known(process.stdin), memoryview(given)
    with selectors.DefaultSelector() as selector:
        selector.register(source, selectors.EVENT_WRITE)
        for stream in read:
            selector.register(stream, selectors.EVENT_READ)
        while selector.get_map():
            left = end - time.monotonic()
            ready = selector.select(left) if left > 0 else []
            if not ready:
                raise subprocess.TimeoutExpired(process.args, 0)
            for key, _ in ready:
                if key.fileobj is source:
                    rest = _write(key.fd, rest)
                    if not rest:
                        selector.unregister(source)
                        source.close()
                    continue
                chunk = os.read(key.fd, _CHUNK)
                read[key.fileobj] += chunk
                if not chunk:
                    selector.unregister(key.fileobj)
                if len(read[key.fileobj]) > most:
                    raise OutputError
    output, errors = read.values()
    return bytes(output), bytes(errors)


def _known(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise ValueError("the program has no pipe for its input")
    return stream


def _write(pipe: int, rest: memoryview) -> memoryview:
    """Returns what is left to write; nothing if the program does not read its input."""
    try:
        # A pipe that is ready takes this much without waiting.
        return rest[os.write(pipe, rest[: select.PIPE_BUF]) :]
    except BrokenPipeError:
        return rest[:0]


def _limit_memory(process: int) -> None:
    """Limits the memory of Helm, which waits for its input, where the system can do that."""
    import resource

    if hasattr(resource, "prlimit"):
        with contextlib.suppress(ProcessLookupError, PermissionError, ValueError):
            resource.prlimit(process, resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
