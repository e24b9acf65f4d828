"""Runs the program as in a pod: a plan in a file, secrets in the environment, with short timeouts."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.charts.helm import CHARTS

FETCH = CHARTS["training-job"] / "files" / "dataset" / "fetch.py"
MARKER = ".trainyard-dataset.json"
PATIENCE_SECONDS = 1.0


def sha256(content: bytes) -> str:
    """Return the digest as values have it."""
    return hashlib.sha256(content).hexdigest()


def plan(folder: Path, source: Mapping[str, Any], files: Mapping[str, str] | None = None, manifest: str = "") -> Path:
    """Write a plan that fetches `source` to `folder`."""
    written = {"folder": str(folder), "source": source, "checksum": {"files": files or {}, "manifest": manifest}}
    path = folder.parent.parent / f"plan-{sha256(json.dumps(written).encode())[:8]}.json"
    path.write_text(json.dumps(written))
    return path


def start(
    path: Path,
    pod: str = "pod-a",
    environment: Mapping[str, str] | None = None,
    patience: float = PATIENCE_SECONDS,
    program: Path = FETCH,
    log: Path | None = None,
) -> subprocess.Popen[str]:
    """Start the program as the pod with this name; its output goes to a pipe, or to a file that a test can read."""
    times = ["--beat", "0.1", "--patience", str(patience), "--report", "0.1"]
    pod_environment = {"PATH": os.environ["PATH"], "DATASET_POD_UID": f"uid of {pod}", "DATASET_POD_NAME": pod}
    return subprocess.Popen(
        [sys.executable, "-B", program, path, *times],
        env=pod_environment | dict(environment or {}),
        stdout=log.open("w") if log else subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Wait for the end, and return exit status, output and errors."""
    output, errors = process.communicate(timeout=120)
    assert "Traceback" not in errors, errors
    return process.returncode, output, errors


def fetch(path: Path, pod: str = "pod-a", environment: Mapping[str, str] | None = None, program: Path = FETCH) -> str:
    """Run the program to its end, which must be a success; return the output."""
    status, output, errors = finish(start(path, pod, environment, program=program))
    assert status == 0, output + errors
    return output


def fetch_error(path: Path, environment: Mapping[str, str] | None = None) -> str:
    """Run the program to its end, which must be an error; return the errors."""
    status, output, errors = finish(start(path, environment=environment))
    assert status == 1, output + errors
    return errors


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file of a folder, without the marker."""
    found = (path for path in folder.rglob("*") if path.is_file() and path.name != MARKER)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def wait_until(condition: Callable[[], object]) -> None:
    """Poll until the condition is true."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "timed out"
        time.sleep(0.02)
