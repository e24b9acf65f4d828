"""Runs the tests of a changed module in a copy of the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.harness import checkout
from tools.mutations.mutants import Mutant
from tools.mutations.targets import Target

# A change may make a loop endless, or make a process wait for ever. The tests of a target take at most 20 s on an idle
# machine. On a busy one only the time of the processor tells an endless loop.
PROCESSOR_SECONDS = 120
SECONDS = 3600


class TestsFailError(Exception):
    """Tests fail without any change; `args[0]` has their output."""


def copy(folder: Path) -> None:
    """Copies the files of the checkout, and links what it has built.

    Raises:
        OSError: A file cannot be copied.
    """
    checkout.copy(folder, with_new=True)
    (folder / "build").symlink_to(Path("build").resolve())


def check(target: Target, folder: Path) -> None:
    """Runs the tests of a target without a change.

    Raises:
        TestsFailError: They fail.
    """
    status, output = _pytest(target.arguments(target.modules[0]), folder)
    if status:
        raise TestsFailError(output)


def survives(mutant: Mutant, folder: Path) -> bool:
    """True if all tests of the changed module pass."""
    file = folder / mutant.module
    before = file.read_text(encoding="utf-8")
    file.write_text(mutant.code, encoding="utf-8")
    try:
        return not _pytest(mutant.target.arguments(mutant.module), folder)[0]
    finally:
        file.write_text(before, encoding="utf-8")


def _pytest(arguments: list[str], folder: Path) -> tuple[int, str]:
    """Returns the status of pytest, -1 after too long a time, and its output."""
    # Without bytecode: it is not written anew for a change of the same size in the same second.
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": "validator:."}
    command = [
        "prlimit",
        f"--cpu={PROCESSOR_SECONDS}",
        str(Path(sys.executable).absolute()),
        "-m",
        "pytest",
        "--quiet",
        "--exitfirst",
        "-p",
        "no:cacheprovider",
        *arguments,
    ]
    try:
        ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return -1, f"the tests take more than {SECONDS} s"
    return ended.returncode, ended.stdout
