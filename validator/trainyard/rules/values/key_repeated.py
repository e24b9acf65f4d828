"""A mapping of an object has the same key twice, so one of the two values is lost.

YAML forbids it. kubectl, Helm and most controllers take the last value without a word: a container with two lists `env`
has the variables of the second alone. Kustomize and some other tools refuse the file.

The rule checks objects, and patches within kustomizations. It leaves out keys whose values are equal.

Join the two values, or remove one of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from trainyard.document.document import Document, Place
from trainyard.document.lookup import items
from trainyard.document.reading import embedded
from trainyard.document.source import BrokenText
from trainyard.engine.rule import Problem, rule

if TYPE_CHECKING:
    from yaml import Node

_MERGE = "<<"


@rule(
    code="HV013",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "yaml.org/spec/1.2.2: keys of a mapping are unique",
        "kubernetes-sigs/yaml v1.6.0: Unmarshal takes the last of equal keys",
        "github.com/llm-d/llm-d issue 2356",
    ),
)
def key_repeated(document: Document) -> Iterator[Problem]:
    """Report keys of objects that stand twice with different values."""
    tree = document.tree
    if not isinstance(tree, dict) or not ("kind" in tree and "apiVersion" in tree):
        return
    yield from _repeated(document, document.repeated)
    if tree["kind"] in ("Kustomization", "Component"):
        for field in ("patches", "patchesStrategicMerge"):
            for index, one in enumerate(items(tree, field)):
                written = one.get("patch") if isinstance(one, dict) else one
                steps = (field, index, "patch") if isinstance(one, dict) else (field, index)
                if isinstance(written, str) and "\n" in written:
                    inner = embedded(Place(document).child(*steps), written)
                    if not isinstance(inner, BrokenText):
                        yield from _repeated(inner, inner.repeated)


def _repeated(document: Document, places: tuple[Place, ...]) -> Iterator[Problem]:
    for place in dict.fromkeys(places):
        key = str(place.path[-1]) if place.path else ""
        if key and key != _MERGE and _differs(document.node, place.path):
            yield Problem(
                place,
                f"the key `{key}` stands twice in this mapping: only the last value counts",
                "join the two values, or remove one",
            )


def _differs(node: Any, path: tuple[str | int, ...]) -> bool:
    """True if the values of the key at the end of the path are not all equal."""
    for step in path[:-1]:
        found = [value for key, value in _pairs(node) if key == str(step)]
        node = found[-1] if found else node.value[step] if isinstance(step, int) and _is_list(node, step) else None
        if node is None:
            return False
    values = [_plain(value) for key, value in _pairs(node) if key == str(path[-1])]
    return len(values) > 1 and any(one != values[0] for one in values)


def _pairs(node: Any) -> list[tuple[str, Node]]:
    is_mapping = node is not None and node.id == "mapping"
    return [(str(key.value), value) for key, value in node.value] if is_mapping else []


def _is_list(node: Any, index: int) -> bool:
    return node.id == "sequence" and index < len(node.value)


def _plain(node: Any) -> Any:
    if node.id == "mapping":
        return [(_plain(key), _plain(value)) for key, value in node.value]
    return [_plain(one) for one in node.value] if node.id == "sequence" else node.value
