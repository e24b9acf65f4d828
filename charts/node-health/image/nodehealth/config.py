"""Settings of the two programs, which the chart writes as JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

Settings = TypeVar("Settings")


class ConfigError(Exception):
    """The settings cannot be used; `args[0]` names the key and what to write."""


@dataclass(frozen=True)
class Gpu:
    """Limits of the GPUs."""

    enabled: bool = True
    max_uncorrected_errors: int = 0
    clocks: bool = True


@dataclass(frozen=True)
class KernelLog:
    """XIDs of NVIDIA's driver that take a node out of service."""

    enabled: bool = True
    xids: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Links:
    """InfiniBand and RoCE ports: those that must be up, and how many errors an hour each counter may count."""

    enabled: bool = True
    expected: list[str] = field(default_factory=list)
    max_per_hour: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Disks:
    """Folders of the node that must have space and take a write in time, by name."""

    enabled: bool = True
    paths: dict[str, str] = field(default_factory=dict)
    min_free_percent: float = 5


@dataclass(frozen=True)
class Agent:
    """Settings of the agent. Paths are those in its container."""

    node: str = ""
    interval_seconds: float = 30
    timeout_seconds: float = 60
    confirmations: int = 2
    metrics_port: int = 9400
    sysfs: str = "/sys"
    kernel_log: str = "/dev/kmsg"
    state: str = "/var/lib/trainyard/node-health"
    gpu: Gpu = Gpu()
    xid: KernelLog = KernelLog()
    links: Links = Links()
    disks: Disks = Disks()


@dataclass(frozen=True)
class Pool:
    """Nodes that share a limit: those with all labels of `node_selector`."""

    name: str
    node_selector: dict[str, str] = field(default_factory=dict)
    max_percent: float = 10
    at_least: int = 1


@dataclass(frozen=True)
class Controller:
    """Settings of the controller."""

    interval_seconds: float = 10
    stale_seconds: float = 300
    healthy_seconds: float = 600
    max_quarantines: int = 3
    window_seconds: float = 86_400
    drain: bool = True
    pod_selectors: list[str] = field(default_factory=list)
    off_proofs: list[str] = field(default_factory=list)
    off_seconds: float = 600
    return_seconds: float = 60
    # Longest time between two reports of an agent that runs.
    agent_seconds: float = 220
    lease: str = "trainyard-node-health"
    lease_namespace: str = "kube-system"
    metrics_port: int = 9401
    pools: list[Pool] = field(default_factory=lambda: [Pool("all")])


def with_node(settings: Agent, node: str) -> Agent:
    """Returns the settings for the agent of this node."""
    return replace(settings, node=node)


def read(path: Path, kind: type[Settings]) -> Settings:
    """Returns the settings in a file. Raises `ConfigError`."""
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
    return build(kind, found, path.name)


def build(kind: type[Settings], found: Any, where: str) -> Settings:
    """Returns settings from parsed JSON. Raises `ConfigError` for an unknown key or a wrong type."""
    if not isinstance(found, dict):
        raise ConfigError(f"{where} is {found!r}: write a mapping")
    types = get_type_hints(kind)
    known = [one.name for one in fields(kind)]  # type: ignore[arg-type]
    for key in found:
        if key not in known:
            raise ConfigError(f"{where}: unknown key `{key}`; the keys are {', '.join(known)}")
    try:
        return kind(**{key: _value(types[key], value, f"{where}.{key}") for key, value in found.items()})
    except TypeError as error:
        raise ConfigError(f"{where}: {error}") from error


def _value(kind: Any, value: Any, where: str) -> Any:
    if is_dataclass(kind) and isinstance(kind, type):
        return build(kind, value, where)
    if kind == list[Pool]:
        return [build(Pool, item, f"{where}[{number}]") for number, item in enumerate(value)]
    wanted = getattr(kind, "__origin__", kind)
    if wanted is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
        raise ConfigError(f"{where} is {value!r}: write {wanted.__name__}")
    return value
