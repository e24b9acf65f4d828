"""Somebody who uses `trainyard` on the test cluster."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from tests.harness.cluster import api

STATE_SECONDS = 120


class Answer(NamedTuple):
    """The end of a command."""

    code: int
    out: str
    err: str


class User:
    """Somebody with a kubeconfig, who looks at runs of a namespace."""

    def __init__(self, kubeconfig: Path, namespace: str) -> None:
        self._place = ("--kubeconfig", str(kubeconfig), "--namespace", namespace)

    def __call__(self, command: str, *words: str) -> Answer:
        """Run a command."""
        finished = subprocess.run(
            [sys.executable, "-m", "trainyard", command, *self._place, *words],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert "Traceback" not in finished.stderr
        return Answer(finished.returncode, finished.stdout, finished.stderr)

    def status(self, run: str) -> dict[str, Any]:
        """Return the status of a run."""
        tree: dict[str, Any] = json.loads(self("status", run, "--output-format", "json").out)
        return tree

    def reaches(self, run: str, state: str) -> dict[str, Any]:
        """Return the status of a run that has this state, or has it soon."""

        def reached() -> dict[str, Any] | None:
            found = self.status(run)
            return found if found["state"] == state else None

        return api.wait_until(reached, what=f"{run} to be {state}", seconds=STATE_SECONDS)

    def says(self, run: str, words: str) -> None:
        """Wait until the headline of a run has these words."""
        api.wait_until(
            lambda: words in str(self.status(run)["headline"]),
            what=f"`{words}` in the status of {run}",
            seconds=STATE_SECONDS,
        )
