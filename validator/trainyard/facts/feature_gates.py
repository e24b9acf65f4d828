"""Feature gates of programs by release: their stages, defaults, and whether they can still be set.

Each file of `gates` belongs to a program; its header names the sources. `PROGRAM.former.txt` adds what the pinned
release does not tell to a generated `PROGRAM.txt`, and wins. The line `@ 1.14 1.37.2` lists releases that were read,
together with those between: the last patch of each minor release, or all of them if it names none. Any other line is a
gate with its stages, `NAME<tab>1.26 alpha off, 1.34 ga on locked`; `gone` marks the first release without it.

Source of the stages: kubernetes v1.37.2 staging/src/k8s.io/component-base/featuregate/feature_gate.go.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Mapping

from trainyard.startup import NamedTuple

Version = tuple[int, ...]
_FOLDER = os.path.join(os.path.dirname(__file__), "gates")
_GONE, _ALPHA = "gone", "alpha"
# Higher than any number of a patch release.
_ANY = 1_000_000
KUBERNETES, KUBEADM, KUEUE = "kubernetes", "kubeadm", "kueue"
KUBERAY, NFD, VOLCANO, DRA_DRIVER = "kuberay", "nfd", "volcano", "nvidia-dra-driver"
# How messages call the programs.
TITLES = {
    KUBERNETES: "Kubernetes",
    KUBEADM: "kubeadm",
    KUEUE: "Kueue",
    KUBERAY: "KubeRay",
    NFD: "Node Feature Discovery",
    VOLCANO: "Volcano",
    DRA_DRIVER: "NVIDIA's DRA driver",
}
# Gates of a stage, which every program has.
_OF_STAGES = frozenset(("AllAlpha", "AllBeta"))


class Stage(NamedTuple):
    """The stage and the default of a gate from a release on."""

    since: Version
    name: str
    is_on: bool
    is_locked: bool

    @property
    def is_gone(self) -> bool:
        """True if the release does not know the gate."""
        return self.name == _GONE


class Gates(NamedTuple):
    """The gates of a program with their stages in order; `newest` has the last patch of each minor release read."""

    stages: Mapping[str, tuple[Stage, ...]]
    newest: Mapping[Version, int]

    def covers(self, version: Version) -> bool:
        """True if all gates of a version are in the table. A later patch release may have further ones."""
        minor = version[:2]
        if not min(self.newest) <= minor <= max(self.newest):
            return False
        return (*version, _ANY)[2] <= self.newest.get(minor, _ANY)

    def at(self, name: str, version: Version) -> Stage | None:
        """Returns the stage of a gate in a version; None before its first one."""
        found = None
        for stage in self.stages.get(name, ()):
            if stage.since <= version[:2]:
                found = stage
        return found


class Fault(NamedTuple):
    """Why a release does not know a gate: it came later, left before (`since`), or never was one (None)."""

    since: Version | None
    is_early: bool = False


@functools.cache
def table_of(program: str) -> Gates:
    """Returns the gates of a program."""
    stages: dict[str, dict[Version, Stage]] = {}
    newest: dict[Version, int] = {}
    for line in _lines(f"{program}.txt", f"{program}.former.txt"):
        name, _, written = line.partition("\t")
        if written:
            read = map(_stage, written.split(", "))
            stages.setdefault(name, {}).update((stage.since, stage) for stage in read)
        elif name.startswith("@"):
            newest |= {version[:2]: (*version, _ANY)[2] for version in map(_version, name[1:].split())}
    return Gates({name: tuple(sorted(found.values())) for name, found in stages.items()}, newest)


def unknown(program: str, name: str, version: Version) -> Fault | None:
    """Returns why a version does not know a gate; None if it may know it."""
    gates = table_of(program)
    stages = gates.stages.get(name)
    if name in _OF_STAGES:
        return None
    if stages is None:
        # Most programs have the gates of the libraries of Kubernetes as well.
        is_shared = program != KUBEADM and name in table_of(KUBERNETES).stages
        return None if is_shared or not gates.covers(version) else Fault(None)
    now = gates.at(name, version)
    if now is not None:
        return Fault(now.since) if now.is_gone else None
    # Other gates than those of alpha features come with patch releases, too, and kubeadm may be newer than its version.
    is_early = stages[0].name == _ALPHA and gates.covers(version) and program != KUBEADM
    return Fault(stages[0].since, is_early=True) if is_early else None


def locked(program: str, name: str, version: Version) -> bool | None:
    """Returns the only value that a version takes for a gate; None if it takes both."""
    stage = table_of(program).at(name, version)
    return stage.is_on if stage is not None and stage.is_locked and not stage.is_gone else None


def default(program: str, name: str, version: Version) -> bool | None:
    """Returns the default of a gate in a version; None if the version does not know it."""
    stage = table_of(program).at(name, version)
    return stage.is_on if stage is not None and not stage.is_gone else None


@functools.cache
def known(program: str, version: Version | None) -> frozenset[str]:
    """Returns the gates that a version knows; all of them without a version."""
    stages = table_of(program).stages
    return frozenset(name for name in stages if version is None or default(program, name, version) is not None)


def _lines(*files: str) -> Iterator[str]:
    for file in files:
        path = os.path.join(_FOLDER, file)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as lines:
                yield from lines.read().splitlines()


def _stage(written: str) -> Stage:
    since, name, *rest = written.split(" ")
    return Stage(_version(since), name, "on" in rest, "locked" in rest)


def _version(written: str) -> Version:
    return tuple(map(int, written.split(".")))
