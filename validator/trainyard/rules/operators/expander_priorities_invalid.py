"""The cluster autoscaler cannot read the priorities of its groups, so it ignores them and chooses a group at random.

`priorities` of the ConfigMap `cluster-autoscaler-priority-expander` is a text of YAML: an integer for each priority,
and below it a list of regular expressions for names of groups. Quotes around the integer make it a text, which the
autoscaler refuses: "cannot unmarshal !!str into int". One fault is enough: the whole ConfigMap is ignored.

Write each priority as a number without quotes, and its expressions as a list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from yaml import ScalarNode

from trainyard.document.document import Document, Place
from trainyard.document.lookup import mapping
from trainyard.document.positions import walk
from trainyard.document.reading import embedded
from trainyard.document.source import BrokenText
from trainyard.engine.rule import Problem, rule
from trainyard.facts.kubernetes.read_config_maps import EXPANDER
from trainyard.model.run import Resource

_FIELD = "priorities"
_INTEGER = re.compile(r"-?\d+").fullmatch
# Go has no look-arounds and no references to groups.
_NOT_OF_GO = re.compile(r"\(\?[=!<]|\\[1-9]")


@rule(
    code="GO077",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes/autoscaler cluster-autoscaler/expander/priority/priority.go: parsePrioritiesYAMLString",
        "github.com/kubernetes/kops issue 16546, github.com/kubernetes/autoscaler issue 4913",
    ),
    needs=(EXPANDER,),
)
def expander_priorities_invalid(resource: Resource) -> Iterator[Problem]:
    """Report priorities that the expander cannot read."""
    value = mapping(resource.tree, "data").get(_FIELD)
    if resource.kind != "ConfigMap" or resource.name != EXPANDER or not isinstance(value, str) or "{{" in value:
        return
    at = resource.at.child("data", _FIELD)
    found = embedded(at, value)
    if isinstance(found, BrokenText) or not isinstance(found.tree, dict):
        yield _ignored(at, "the priorities are not a YAML mapping", "write a number, and below it a list")
        return
    place = Place(found)
    for priority, groups in found.tree.items():
        if not _INTEGER(str(priority)) or _is_quoted(found, str(priority)):
            if "$" not in str(priority):
                told = f"write `{priority}:` without quotes" if str(priority).isdigit() else "write a number"
                yield _ignored(place.child(priority).key(), f"the priority `{priority}` is a text and no integer", told)
        elif not isinstance(groups, list):
            yield _ignored(place.child(priority).key(), f"priority {priority} has no list of groups", "write `- .*`")
        else:
            for index, one in enumerate(groups):
                if isinstance(one, str) and not _is_expression(one):
                    fault = f"`{one}` is not a regular expression of Go"
                    yield _ignored(place.child(priority, index), fault, "write one such as `.*gpu.*`")


def _is_quoted(document: Document, key: str) -> bool:
    """True if a key is written in quotes: the keys of a document are texts all the same."""
    found = walk(document.node, (key,))[0] if document.node is not None else None
    return isinstance(found, ScalarNode) and found.style in ("'", '"')


def _is_expression(value: str) -> bool:
    if _NOT_OF_GO.search(value):
        return False
    if "$" in value.rstrip("$"):
        # A parameter, perhaps.
        return True
    try:
        re.compile(value)
    except (re.error, RecursionError):
        return False
    return True


def _ignored(at: Place, fault: str, told: str) -> Problem:
    return Problem(at, f"{fault}: the cluster autoscaler ignores all priorities", told)
