"""Values while they are written: defaults are left out, and everything that a reader must know is kept beside them."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from trainyard.loaders.training_job.chart import chart

Values = dict[str, Any]


class Draft:
    """Values of a run of a kind, with comments by path, changes of the run, and parts that are lost.

    `pods` is the content of `podTemplate`, in which the program's container is called `container`.
    """

    def __init__(self, kind: str, container: str) -> None:
        self.kind = kind
        self.values: Values = {}
        self.pods: Values = {}
        self.comments: dict[str, list[str]] = {}
        self.changes: list[str] = []
        self.lost: list[str] = []
        self._container = container

    def put(self, path: str, value: Any, comment: str = "") -> None:
        """Sets a value unless it is the chart's default. Helm merges mappings, so an empty one says nothing."""
        if value != _default(path) and not (value == {} and isinstance(_default(path), dict)):
            self._set(path, value)
            if comment:
                self.comments.setdefault(path, []).append(comment)

    def put_exactly(self, path: str, wanted: Values, comment: str = "", *, nullable: bool = False) -> None:
        """Sets the values of a mapping so that nothing of the chart's defaults for it is left.

        A mapping that is `nullable` becomes null if nothing is wanted, others keep their keys.
        """
        default = _default(path)
        over = None if nullable and default and not wanted else _exactly(default, wanted)
        if over != {}:
            self._set(path, over)
            if comment:
                self.comments.setdefault(path, []).append(comment)

    def put_pod(self, field: str, value: Any) -> None:
        """Sets a field of the pods' spec in `podTemplate`."""
        self.pods.setdefault("spec", {})[field] = value

    def add_pod(self, field: str, item: Any) -> None:
        """Adds an item to a list of the pods' spec in `podTemplate`."""
        self.pods.setdefault("spec", {}).setdefault(field, []).append(item)

    def program(self) -> Values:
        """Returns the fields of the program's container in `podTemplate`, which may be changed."""
        containers = self.pods.setdefault("spec", {}).setdefault("containers", [])
        for container in containers:
            if container["name"] == self._container:
                return container  # type: ignore[no-any-return]
        containers.insert(0, {"name": self._container})
        return containers[0]  # type: ignore[no-any-return]

    def finished(self) -> Values:
        """Returns the values, in the order of the chart's."""
        values = {**self.values, **({"podTemplate": self.pods} if self.pods else {})}
        return _ordered(values, chart().defaults.tree)

    def _set(self, path: str, value: Any) -> None:
        *steps, last = path.split(".")
        holder = self.values
        for step in steps:
            holder = holder.setdefault(step, {})
        holder[last] = deepcopy(value)


def _default(path: str) -> Any:
    found: Any = chart().defaults.tree
    for step in path.split("."):
        found = found.get(step) if isinstance(found, dict) else None
    return found


def _exactly(default: Any, wanted: Values) -> Values:
    """Returns what Helm must merge into a default to get the wanted mapping; null removes a key."""
    if not isinstance(default, dict):
        return wanted
    over: Values = {}
    for key in {**default, **wanted}:
        own = default.get(key)
        if key not in wanted:
            over[key] = None
        elif isinstance(own, dict) and isinstance(wanted[key], dict):
            inner = _exactly(own, wanted[key])
            if inner != {}:
                over[key] = inner
        elif own != wanted[key] or key not in default:
            over[key] = wanted[key]
    return over


def _ordered(values: Values, like: Any) -> Values:
    known = [key for key in like if key in values] if isinstance(like, dict) else []
    order = [*known, *(key for key in values if key not in known)]
    return {
        key: _ordered(value, like.get(key) if isinstance(like, dict) else None) if isinstance(value, dict) else value
        for key, value in ((key, values[key]) for key in order)
    }
