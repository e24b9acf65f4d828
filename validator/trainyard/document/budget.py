"""The limit of work on a file: as much as the rules judge in about a second for each mebibyte."""

from __future__ import annotations

from typing import Any

from trainyard.document.source import Path

# Of each mebibyte begun. The rules take some 60 us for a part, however short it is, so 10,000 leave time to parse.
# `kubectl get pods --output yaml` prints a tenth as many. It takes 2,500 pods of 400 characters to get there.
MOST_PARTS = 10_000
# What is judged once for each object takes about three times as long as what is judged for each container.
PARTS_OF_AN_OBJECT = 3
# Only hostile objects have many mappings or lists below this depth, which several walks visit, each with its long path.
_DEEP, _DEEP_NODES_OF_A_PART = 32, 2
# The fields whose entries are judged one by one: containers, roles with a template of pods, and quotas of queues.
_REPEATED = frozenset(
    (
        *("containers", "initContainers", "ephemeralContainers", "container", "mainContainer"),
        *("replicatedJobs", "workerGroupSpecs", "tasks", "templates", "services", "cliques", "roles"),
        *("resourceGroups", "flavors"),
    )
)
_ROLES = "eplicaSpecs"
# Reading what a container runs takes as long as judging the rest of it.
_SCRIPTS = frozenset(("command", "args"))
# One of these fields is in each object within another one.
_MARKS = frozenset(("apiVersion", "manifest", "helm"))


class Budget:
    """The parts of a file that may still be checked.

    Objects are checked whole or not at all: half an object would have mistakes that the user did not make.
    """

    def __init__(self, text: str) -> None:
        self.most = most_parts(text)
        self._left = self.most

    def take(self, tree: Any) -> Path | None:
        """Returns the path of the first object that is too much, and removes it and what follows from its list.

        Returns None if all of a document is checked.
        """
        items = listed(tree)
        for index, item in enumerate(items or (tree,)):
            self._left -= parts(item, self._left)
            if self._left < 0:
                del items[index:]
                return ("items", index) if index or items else ()
        return None


def most_parts(text: str) -> int:
    """Returns the number of parts of a file that are checked."""
    return MOST_PARTS * (1 + len(text) // 2**20)


def is_surely_within(text: str) -> bool:
    """True if a text without aliases is too short for so many parts: the shortest object takes two characters."""
    return PARTS_OF_AN_OBJECT * len(text) < 2 * (MOST_PARTS - PARTS_OF_AN_OBJECT)


def listed(tree: Any) -> list[Any]:
    """Returns the objects of a list of them, such as `kubectl get -o yaml` prints; none for anything else."""
    items = tree.get("items") if isinstance(tree, dict) and str(tree.get("kind")).endswith("List") else None
    return items if isinstance(items, list) else []


def parts(tree: Any, most: int) -> int:
    """Returns the number of parts of an object; counting ends above `most`."""
    count, deep = PARTS_OF_AN_OBJECT, 0
    left = [(tree, 0)]
    while left and count + deep // _DEEP_NODES_OF_A_PART <= most:
        node, depth = left.pop()
        deep += depth > _DEEP
        if isinstance(node, dict):
            if node is not tree and not _MARKS.isdisjoint(node) and _is_object(node):
                count += PARTS_OF_AN_OBJECT
            for key, value in node.items():
                if isinstance(value, dict | list):
                    left.append((value, depth + 1))
                    if key in _REPEATED or key.endswith(_ROLES):
                        count += len(value)
                    elif key in _SCRIPTS:
                        count += 1
        elif isinstance(node, list):
            left += [(value, depth + 1) for value in node if isinstance(value, dict | list)]
    return count + deep // _DEEP_NODES_OF_A_PART


def _is_object(node: dict[str, Any]) -> bool:
    """True for an object in another one, also for the text of one in an Argo Workflow, and for a release of a chart."""
    if isinstance(node.get("manifest"), str) or isinstance(node.get("helm"), dict):
        return True
    return isinstance(node.get("kind"), str) and isinstance(node.get("apiVersion"), str)
