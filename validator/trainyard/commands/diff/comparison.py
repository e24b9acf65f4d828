"""The comparison of two runs."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from trainyard.commands.diff.facts import TOPICS, Key, facts
from trainyard.model.run import Run

# What follows the name of a run in the names of its pods and of the objects that the charts create for it.
_OWN = r"(?:master|worker|chief|ps|launcher|evaluator|node)-\d|checkpoints\b|dataset\b|launch\b|preflight\b"
_RUN = "<run>"


class Change(NamedTuple):
    """A difference: None stands for a side that has no such setting. `roles` is empty if all roles have it."""

    topic: str
    name: str
    before: Any
    after: Any
    roles: tuple[str, ...]


def compare(one: Run, other: Run) -> list[Change]:
    """Returns the differences of two runs, by topics. Their names and namespaces are none."""
    alone = one.kind != other.kind
    ours, theirs = (_facts(run, alone=alone, named=one.name != other.name) for run in (one, other))
    changes: dict[tuple[str, str, str, str], list[tuple[Key, Any, Any]]] = {}
    for key in sorted({**ours, **theirs}, key=lambda key: (TOPICS.index(key[0]), key[1])):
        before, after = ours.get(key), theirs.get(key)
        if before != after:
            changes.setdefault((*key[:2], repr(before), repr(after)), []).append((key, before, after))
    holders = _holders(ours, theirs)
    found = []
    for (topic, name, _, _), same in changes.items():
        roles = tuple(key[2] for key, _, _ in same)
        everywhere = set(roles) == holders[topic, name]
        found.append(Change(topic, name, same[0][1], same[0][2], () if everywhere else roles))
    return found


def _holders(ours: dict[Key, Any], theirs: dict[Key, Any]) -> dict[tuple[str, str], set[str]]:
    """Returns the roles that have a fact on either side."""
    found: dict[tuple[str, str], set[str]] = {}
    for topic, name, role in (*ours, *theirs):
        found.setdefault((topic, name), set()).add(role)
    return found


def _facts(run: Run, *, alone: bool, named: bool) -> dict[Key, Any]:
    found = facts(run, alone=alone)
    if not named or not run.name:
        return found
    name = re.escape(run.name)
    # Pods of a TrainJob are hosts of a domain with its name.
    pattern = re.compile(rf"(?<![\w-]){name}(?=-(?:{_OWN}))|(?<=-0-0\.){name}(?![\w-])")
    return {key: _neutral(value, run.name, pattern) for key, value in found.items()}


def _neutral(value: Any, name: str, pattern: re.Pattern[str]) -> Any:
    """Returns a value in which a word stands for the name of the run."""
    if isinstance(value, dict):
        return {key: _neutral(inner, name, pattern) for key, inner in value.items()}
    if isinstance(value, list):
        return [_neutral(inner, name, pattern) for inner in value]
    if type(value) is not str:
        return value
    return _RUN if value == name else pattern.sub(_RUN, value)
