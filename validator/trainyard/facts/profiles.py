"""Fabric profiles: the requirements of a cloud or a site on a training container.

Each is a file in `charts/common/files/fabric`: charts render the same data.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from trainyard.chart_folder import CHARTS

FOLDER = CHARTS / "common" / "files" / "fabric"


class Wanted(NamedTuple):
    """A variable that should be set; if `value` is None, to any value."""

    name: str
    value: str | None


class Unwanted(NamedTuple):
    """A variable that must not be set, or a resource that must be requested, and the reason."""

    name: str
    why: str


class Profile(NamedTuple):
    """A fabric. A resource name that ends in `/` stands for any resource with this prefix.

    `devices` are the extended resources that charts/training-job requests.
    """

    name: str
    title: str
    source: str
    required: tuple[Wanted, ...]
    recommended: tuple[Wanted, ...]
    forbidden: tuple[Unwanted, ...]
    resources: tuple[Unwanted, ...]
    devices: tuple[str, ...]


def profile_names() -> tuple[str, ...]:
    """Returns the names of all profiles."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))


@functools.cache
def load_profile(name: str) -> Profile:
    """Returns the profile with this name. Raises `KeyError` if there is none."""
    if name not in profile_names():
        raise KeyError(name)
    tree = _read((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    env, resources = tree.get("env", {}), tree.get("resources", [])
    any_value = frozenset(tree.get("anyValue", ()))
    return Profile(
        name=name,
        title=tree["title"],
        source=tree["source"],
        required=_wanted(env.get("required", {}), any_value),
        recommended=_wanted(env.get("recommended", {}), any_value),
        forbidden=_unwanted(tree.get("forbidden", [])),
        resources=_unwanted([one for one in resources if "why" in one]),
        devices=tuple(one["name"] for one in resources),
    )


def asks_for(name: str | None, variable: str) -> bool:
    """True if the profile wants this variable to be set; False if there is no such profile."""
    if name is None or name not in profile_names():
        return False
    wanted = load_profile(name)
    return any(entry.name == variable for entry in (*wanted.required, *wanted.recommended))


def forbids(name: str | None, variable: str) -> bool:
    """True if the profile forbids this variable; False if there is no such profile."""
    known = name is not None and name in profile_names()
    return known and any(entry.name == variable for entry in load_profile(str(name)).forbidden)


def profile_devices(name: str) -> tuple[str, ...]:
    """Returns the extended resources that a run of the profile requests; none if there is no such profile."""
    return load_profile(name).devices if name in profile_names() else ()


def _read(text: str) -> Any:
    # The faster parser has no binary for some platforms, such as a browser.
    try:
        import yaml_rs
    except ImportError:
        import yaml

        return yaml.safe_load(text)
    return yaml_rs.loads(text)


def _wanted(variables: dict[str, str | None], any_value: frozenset[str]) -> tuple[Wanted, ...]:
    return tuple(Wanted(name, None if name in any_value else value) for name, value in variables.items())


def _unwanted(entries: list[dict[str, str]]) -> tuple[Unwanted, ...]:
    return tuple(Unwanted(entry.get("accepts", entry["name"]), entry["why"]) for entry in entries)
