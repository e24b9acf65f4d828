"""A program that does not end, and starts another one in its own session: `python -m tests.gpu.sleeper FILE`."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

if __name__ == "__main__":
    if not (other := os.fork()):
        os.setsid()
        signal.pause()
    print("an error: RuntimeError: a mistake", flush=True)
    path = Path(sys.argv[1])
    path.with_suffix(".part").write_text(f"{os.getpid()} {other}")
    # All or nothing, because another process waits for the file.
    path.with_suffix(".part").rename(path)
    signal.pause()
