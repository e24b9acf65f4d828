"""Results of programs that read a chart and their arguments: kept in the cache folder for the next run.

A result is named by the content of the chart, the command and its input, and not by the path of the chart: another
checkout, as of CI, has the same results. The path of a program of the harness has the hash of its version. Only success
is kept: what fails runs again.
"""

from __future__ import annotations

import functools
import gzip
import os
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.harness.cluster import cache

# Results of a chart that nobody has asked for as long are removed: each change of a chart makes new ones.
SECONDS = 7 * 24 * 3600
# Takes the place of the chart's path, and stands in no output of a program.
PATH = "\0"


def run(
    command: Sequence[str], chart: Path, environment: Mapping[str, str], text: str = ""
) -> subprocess.CompletedProcess[str]:
    """Return the result of a command that reads no other file than those of `chart`, and `text` on standard input."""
    settings = [f"{name}={value}" for name, value in sorted(environment.items()) if name.startswith("HELM_")]
    words = [word.replace(str(chart), PATH) for word in command]
    file = _folder(chart) / f"{cache.digest(*words, *settings, text)}.gz"
    try:
        output = gzip.decompress(file.read_bytes()).decode().replace(PATH, str(chart))
        return subprocess.CompletedProcess(command, 0, output, "")
    except FileNotFoundError:
        result = subprocess.run(
            command, input=text, env=environment, capture_output=True, encoding="utf-8", check=False
        )
    # A warning would be lost.
    if result.returncode == 0 and not result.stderr:
        # Another process may write or read the file.
        written = file.with_suffix(f".{os.getpid()}")
        output = result.stdout.replace(str(chart), PATH)
        written.write_bytes(gzip.compress(output.encode(), compresslevel=1))
        written.replace(file)
    return result


def _folder(chart: Path) -> Path:
    """Return the folder with the results of a chart as it was when this process began."""
    kept = cache.root() / "charts"
    folder = kept / f"{chart.name}-{_digest(chart)}"
    if not folder.exists():
        folder.mkdir(parents=True, exist_ok=True)
        for other in kept.iterdir():
            if time.time() - other.stat().st_mtime > SECONDS:
                shutil.rmtree(other, ignore_errors=True)
    os.utime(folder)
    return folder


@functools.cache
def _digest(chart: Path) -> str:
    return cache.digest(chart)
