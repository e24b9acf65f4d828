"""Configurations of dstack: its fleets and runs, which are files of YAML and no objects of Kubernetes.

Source: dstackai/dstack 0.21.2 src/dstack/_internal/core/models: configurations.py, fleets.py, profiles.py and
resources.py.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

from trainyard.document.document import Place
from trainyard.document.lookup import mapping, text
from trainyard.model.run import Project
from trainyard.startup import NamedTuple, pattern

FLEET = "fleet"
_RUNS = ("task", "service", "dev-environment")
# All fields of these configurations, and of the profiles that they include.
_FIELDS_TEXT = """
    type name image user privileged entrypoint working_dir home_dir registry_auth python nvcc single_branch env
    shell resources priority volumes docker repos files dstack setup ports commands ide version init
    inactivity_duration nodes groups port gateway strip_prefix model https auth scaling rate_limits probes
    replicas backends regions availability_zones instance_types reservation spot_policy retry max_duration
    stop_duration max_price creation_policy idle_duration utilization_policy startup_order stop_criteria
    schedule fleets tags backend_options instances placement blocks ssh_config
"""
_FIELDS = frozenset(_FIELDS_TEXT.split())
# Each configuration has one of these. Files of other programs have a type and a name, too.
_TELLING_TEXT = """
    resources commands ide nodes ssh_config backends placement fleets spot_policy instance_types idle_duration
"""
_TELLING = frozenset(_TELLING_TEXT.split())
_NUMBER = pattern(r"(\d+(?:\.\d+)?)(mb|gb|tb)?", re.IGNORECASE)
_UNITS = {"mb": 1 / 1024, "gb": 1.0, "tb": 1024.0}
_LETTER = pattern(r"[A-Za-z]")

Range = tuple[float, float]


class Configuration(NamedTuple):
    """A fleet, or a run: `kind` is its type."""

    kind: str
    name: str
    tree: dict[str, Any]
    at: Place


def is_configuration(tree: Any) -> bool:
    """True for the configuration of a fleet or a run."""
    kind = tree.get("type") if isinstance(tree, dict) else None
    return kind in (FLEET, *_RUNS) and _FIELDS.issuperset(tree) and not _TELLING.isdisjoint(tree)


def configurations(project: Project) -> Iterator[Configuration]:
    """Yields the configurations in the files."""
    for document in project.documents:
        tree = document.tree
        if is_configuration(tree):
            yield Configuration(tree["type"], text(tree, "name"), tree, Place(document))


def ranges(resources: Any) -> dict[tuple[str, ...], Range]:
    """Returns the ranges that resources have, by the fields that name them; sizes are in gigabytes."""
    gpu, disk = mapping(resources).get("gpu"), mapping(resources).get("disk")
    found: dict[tuple[str, ...], Range | None] = {
        ("cpu",): _range(mapping(resources).get("cpu")),
        ("memory",): _range(mapping(resources).get("memory")),
        ("disk",): _range(disk.get("size") if isinstance(disk, dict) and "size" in disk else disk),
    }
    if isinstance(gpu, dict):
        found |= {("gpu", name): _range(gpu.get(name)) for name in ("count", "memory", "total_memory")}
    elif isinstance(gpu, str | int) and not isinstance(gpu, bool):
        for token in str(gpu).replace(" ", "").split(":"):
            is_name = token[:1].isalpha()
            field = "memory" if _LETTER.search(token) else "count"
            found |= {} if is_name else {("gpu", field): _range(token)}
    return {path: known for path, known in found.items() if known is not None}


def _range(value: Any) -> Range | None:
    """Returns the least and the most of a range such as `8GB..`, `2..4`, `8` or a mapping; None for anything else."""
    if isinstance(value, dict):
        least, most = value.get("min"), value.get("max")
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        start, dots, end = str(value).replace(" ", "").partition("..")
        least, most = (start, end) if dots else (start, start)
    else:
        return None
    low, high = _size(least, -math.inf), _size(most, math.inf)
    return (low, high) if low is not None and high is not None and (low, high) != (-math.inf, math.inf) else None


def _size(value: Any, otherwise: float) -> float | None:
    if value in (None, ""):
        return otherwise
    found = _NUMBER.fullmatch(str(value))
    return float(found[1]) * _UNITS[(found[2] or "gb").lower()] if found is not None else None
