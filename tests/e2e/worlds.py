"""The world sizes in which an elastic run of the digits trains, from the log of worker 0."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tests.harness.cluster import api
from tests.harness.cluster.errors import ClusterError
from tests.harness.jobs.helm import Settings
from tests.harness.jobs.run import Run

_WORLD = re.compile(r"^trainer: .* world_size=(\d+) ", re.MULTILINE)
_EPOCH = re.compile(r"^epoch=(\d+)/", re.MULTILINE)
_RESUMED = re.compile(r"^resumed: epoch=(\d+) ", re.MULTILINE)
# It trains until its test ends.
ENDLESS: Settings = {
    "placement.spread": "none",
    "resources.limits.cpu": "300m",
    "train.args": ["--epochs", "1000000", "--batch-size", "36", "--checkpoint-dir", "/checkpoints"],
    "checkpoints.keep": False,
}


@dataclass
class Worlds:
    """The generations of a run: each has a world size, and resumes where the one before was."""

    run: Run
    log: str = ""

    def until(self, size: int, *, seconds: float = 240) -> None:
        """Wait until worker 0 trains with this world size, in a generation that the last call has not seen.

        A slow pod causes a generation with a smaller world size in between.
        """
        behind = len(self.log)

        def trained() -> str | None:
            text = self._read()
            starts = [start for start in _WORLD.finditer(text) if start.start() >= behind]
            return text if starts and starts[-1][1] == str(size) and _EPOCH.search(text, starts[-1].end()) else None

        before, self.log = self.log, api.wait_until(trained, what=f"an epoch in a world of {size}", seconds=seconds)
        if before:
            _require_resumed(before, _RESUMED.findall(self.log[len(before) :]))

    def _read(self) -> str:
        worker = f"{self.run.release}-worker-0"
        try:
            return api.kubectl(self.run.cluster.kubeconfig, "logs", "-n", self.run.namespace, worker)
        except ClusterError:  # its container has not started yet
            return ""


def _require_resumed(before: str, epochs: Sequence[str]) -> None:
    assert epochs
    # An epoch is logged before its checkpoint starts, and the previous checkpoint may still be in progress.
    assert int(epochs[0]) >= int(_EPOCH.findall(before)[-1]) - 2
