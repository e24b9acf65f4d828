"""Draws inputs in a process of their own: the linter is a fork of this one, and has all of its memory at the start."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from multiprocessing.connection import Connection
from typing import TypeVar

_T = TypeVar("_T")


def apart(made: Iterator[_T]) -> Iterator[_T]:
    """Yields what an iterator yields in another process.

    Raises:
        RuntimeError: The iterator has raised an error, which that process has printed.
    """
    context = multiprocessing.get_context("fork")
    reader, writer = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(made, reader, writer), daemon=True)
    process.start()
    writer.close()
    while True:
        try:
            one = reader.recv()
        except EOFError:
            break
        yield one
    process.join()
    if process.exitcode:
        raise RuntimeError(f"drawing inputs ended with {process.exitcode}")


def _send(made: Iterator[_T], reader: Connection, writer: Connection) -> None:
    reader.close()
    for one in made:
        writer.send(one)
