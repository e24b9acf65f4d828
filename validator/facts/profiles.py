"""Fabric profiles: what a cloud or a site asks of a training container. Each is a file in `validator/profiles`."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parents[1] / "profiles"
# Devices that charts/training-job asks for by each profile, as the provider or NVIDIA's network operator offers them.
DEVICES = {
    "onprem-ib": ("rdma/rdma_shared_device_a",),
    "onprem-roce": ("rdma/rdma_shared_device_a",),
    "eks-efa": ("vpc.amazonaws.com/efa", "hugepages-2Mi"),
    "aks-ib": ("rdma/ib",),
    "oke-roce": ("nvidia.com/rdma-vf",),
    "coreweave-ib": ("rdma/ib",),
}


class Wanted(NamedTuple):
    """A variable that should be set; any value does when `value` is None."""

    name: str
    value: str | None


class Unwanted(NamedTuple):
    """A variable that must not be set, or a resource that must be asked for, and why."""

    name: str
    why: str


class Profile(NamedTuple):
    """A fabric. A resource whose name ends in `/` stands for any with this prefix."""

    name: str
    title: str
    source: str
    required: tuple[Wanted, ...]
    recommended: tuple[Wanted, ...]
    forbidden: tuple[Unwanted, ...]
    resources: tuple[Unwanted, ...]


def names() -> tuple[str, ...]:
    """All profiles."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))


@functools.cache
def profile(name: str) -> Profile:
    """The profile with this name; `KeyError` when there is none."""
    import yaml

    if name not in names():
        raise KeyError(name)
    tree = yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    return Profile(
        name=name,
        title=tree["title"],
        source=tree["source"],
        required=_wanted(tree.get("required", [])),
        recommended=_wanted(tree.get("recommended", [])),
        forbidden=_unwanted(tree.get("forbidden", [])),
        resources=_unwanted(tree.get("resources", [])),
    )


def asks_for(name: str | None, variable: str) -> bool:
    """Whether the profile wants this variable to be set; False where there is no such profile."""
    if name is None or name not in names():
        return False
    wanted = profile(name)
    return any(entry.name == variable for entry in (*wanted.required, *wanted.recommended))


def _wanted(entries: list[dict[str, str]]) -> tuple[Wanted, ...]:
    return tuple(Wanted(entry["name"], entry.get("value")) for entry in entries)


def _unwanted(entries: list[dict[str, str]]) -> tuple[Unwanted, ...]:
    return tuple(Unwanted(entry["name"], entry["why"]) for entry in entries)
