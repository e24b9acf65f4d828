"""Cases of runs as a cluster had them: objects, shortened, with the state that a person expects."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import yaml

from trainyard.commands.status.snapshot import Snapshot, moment

FOLDER = Path(__file__).parent / "cases"


class StatusCase(NamedTuple):
    """A run with what is expected of it."""

    name: str
    expect: dict[str, Any]
    snapshot: Snapshot


def cases() -> list[StatusCase]:
    """Return all cases."""
    return [case(path.stem) for path in sorted(FOLDER.glob("*.yaml"))]


def case(name: str) -> StatusCase:
    """Return the case with this name."""
    tree = yaml.load((FOLDER / f"{name}.yaml").read_text(), Loader=yaml.CSafeLoader)
    now = moment(tree["now"])
    assert now is not None
    job, *objects = tree["objects"]
    kinds: dict[str, list[Any]] = {}
    for one in objects:
        kinds.setdefault(one["kind"], []).append(one)
    snapshot = Snapshot(
        job,
        now,
        pods=tuple(kinds.get("Pod", ())),
        events=tuple(kinds.get("Event", ())),
        claims=tuple(kinds.get("PersistentVolumeClaim", ())),
        workloads=tuple(kinds.get("Workload", ())),
        groups=tuple(kinds.get("PodGroup", ())),
        runtimes=tuple(kinds.get("TrainingRuntime", ())),
        logs=tree.get("logs", {}),
        metrics=tree.get("metrics", {}),
    )
    return StatusCase(name, tree["expect"], snapshot)
