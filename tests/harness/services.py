"""Servers of this machine that run beside a test."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def serving(command: Sequence[str | Path], log: Path, variables: Mapping[str, str] | None = None) -> Iterator[None]:
    """Run a program, with these variables beside those of the test, until the block ends."""
    with log.open("w") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, env=os.environ | (variables or {}))
        try:
            yield
        finally:
            process.terminate()
            process.wait()
