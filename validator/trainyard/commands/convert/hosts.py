"""Names of pods in commands and variables, which change with the kind of the job."""

from __future__ import annotations

import re
from typing import Any

from trainyard.commands.convert.roles import Part, Tree
from trainyard.document.lookup import items
from trainyard.model.run import Run

# Labels of pods with the name of their job.
_NAME_LABELS = ("/job-name", "/jobset-name")


def renamed(run: Run, part: Part, kind: str) -> list[str]:
    """Changes the names of the first pod in a part's commands and variables. Returns the old names, as changes."""
    if kind != "TrainJob":
        return []
    new = f"{run.name}-node-0-0.{run.name}"
    if run.kind == "JobSet":
        old = rf"{re.escape(run.name)}-{re.escape(part.name)}-0-0(?:\.{re.escape(run.name)})?"
    else:
        old = rf"{re.escape(run.name)}-(?:master|worker)-0"
    pattern = re.compile(rf"(?<![\w.-]){old}(?![\w-])")
    found: dict[str, None] = {}
    for tree, key in _texts(part.container):
        for match in pattern.findall(tree[key]):
            found[match] = None
        tree[key] = pattern.sub(new, tree[key])
    return [f"the host {name} is called {new} in a TrainJob" for name in found if name != new]


def names_pods(values: Any, name: str) -> bool:
    """Returns true if values name a pod of the run, or select the pods by the name of the job."""
    pod = re.compile(rf"(?<![\w.-]){re.escape(name)}-(?:master|worker|chief|ps|launcher|node-0)(?:-\d|\b)")
    if isinstance(values, dict):
        selects = any(key.endswith(_NAME_LABELS) and value == name for key, value in values.items())
        return selects or any(names_pods(value, name) for value in values.values())
    if isinstance(values, list):
        return any(names_pods(value, name) for value in values)
    return isinstance(values, str) and pod.search(values) is not None


def _texts(container: Tree) -> list[tuple[Any, Any]]:
    """Returns the places of texts in a container: each with its holder and its key there."""
    found: list[tuple[Any, Any]] = []
    for field in ("command", "args"):
        words = items(container, field)
        found += [(words, index) for index, word in enumerate(words) if isinstance(word, str)]
    entries = [entry for entry in items(container, "env") if isinstance(entry.get("value"), str)]
    return found + [(entry, "value") for entry in entries]
