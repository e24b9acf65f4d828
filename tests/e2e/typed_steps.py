"""Steps of a user, typed in a shell: the lists `steps.yaml` in folders of this one, whose first lines name the fields.

The steps of a list go through one folder and one cluster in order, so a step may fail because an earlier one did.
"""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

# Between two attempts of a step whose output still changes.
RETYPE_SECONDS = 0.5
SECONDS = 240


@dataclass(frozen=True)
class Step:
    """A step of a list; the file of the list describes the fields."""

    step: str
    type: str
    exit: int = 0
    write: dict[str, str] = field(default_factory=dict)
    shows: list[str] = field(default_factory=list)
    lacks: list[str] = field(default_factory=list)
    within: int = 0


def read(file: Path) -> list[Step]:
    """Return the steps of a list."""
    return [Step(**step) for step in yaml.safe_load(file.read_text())]


@dataclass(frozen=True)
class Shell:
    """A terminal in a folder, with these variables and no others."""

    folder: Path
    variables: Mapping[str, str]

    def type(self, command: str) -> subprocess.CompletedProcess[str]:
        """Run a command as a user types it, with both streams in one output."""
        return subprocess.run(
            ["/bin/bash", "-c", command],
            cwd=self.folder,
            env=self.variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=SECONDS,
        )

    def write(self, name: str, text: str) -> None:
        """Write a file below the folder."""
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def follow(self, step: Step) -> None:
        """Type a step, again until its output is as expected or its time is over; fail if it is not."""
        for name, text in step.write.items():
            self.write(name, text)
        finished = self.type(step.type)
        until = time.monotonic() + step.within
        while differences(step, finished) and time.monotonic() < until:
            time.sleep(RETYPE_SECONDS)
            finished = self.type(step.type)
        if wrong := differences(step, finished):
            pytest.fail("\n".join([f"$ {step.type}", finished.stdout, *wrong]), pytrace=False)


def differences(step: Step, finished: subprocess.CompletedProcess[str]) -> list[str]:
    """Returns what is not as the step says."""
    found = [f"exit status {finished.returncode} instead of {step.exit}"] * (finished.returncode != step.exit)
    for pattern in step.shows:
        if not re.search(pattern, finished.stdout, re.MULTILINE):
            found.append(f"not shown: {pattern}")
    for pattern in step.lacks:
        if re.search(pattern, finished.stdout, re.MULTILINE):
            found.append(f"shown: {pattern}")
    return found
