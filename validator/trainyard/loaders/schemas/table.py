"""Types of Kubernetes objects: reads the generated tables, and tells in microseconds if an object fits its type.

A file of `facts/types` has a line for each type: `Container<TAB>command=[s name!=s resources=Resources`. A field with a
`!` is required. The field `*` stands for all others. A reference is a scalar: `s` (string), `i` (integer), `n`
(number), `b` (boolean), `q` (quantity), `x` (integer or string), `a` (anything). It may also be the name of a type, or
`[` or `{` before the reference of the items of a list or a map. The name of a type with limits starts with `~`; its
line has the reference and the limits. Lines with a space in the name lead from a kind to its type.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

from trainyard.startup import NamedTuple

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(__file__))), "facts", "types")
# Tables that leave out pods: those of operators that no chart here installs.
OPERATORS = os.path.join(FOLDER, "operators")
# Tables of configurations that components read, and no API server.
COMPONENTS = os.path.join(FOLDER, "components")
BUILT_IN = "kubernetes"
# Groups of Kubernetes itself beside those without a dot. Other groups that end so belong to projects around it.
_BUILT_IN_GROUPS = frozenset(
    f"{name}.k8s.io"
    for name in (
        *("admissionregistration", "apiextensions", "apiregistration", "authentication", "authorization"),
        *("certificates", "coordination", "discovery", "events", "flowcontrol.apiserver", "internal.apiserver"),
        *("networking", "node", "rbac.authorization", "resource", "scheduling", "storage", "storagemigration"),
    )
)

CONFIGURATIONS = (
    "config.kueue.x-k8s.io/", "kubeadm.k8s.io/", "kubelet.config.k8s.io/", "kubescheduler.config.k8s.io/",
)  # fmt: skip

Fits = Callable[[Any], bool]


class Type(NamedTuple):
    """The fields of a mapping by name, the required ones, and the type of all other fields, if they are allowed."""

    fields: dict[str, str]
    required: tuple[str, ...]
    others: str | None


class Limited(NamedTuple):
    """A type with limits of its values."""

    reference: str
    limits: dict[str, str]


class Table:
    """The types of one file. Each is prepared when it first occurs in an object: a job uses a fifth of them."""

    def __init__(self, text: str, *, has_pods: bool = True) -> None:
        self.has_pods = has_pods
        self.lines = dict([line.split("\t", 1) for line in text.splitlines()])
        self._types: dict[str, Type] = {}
        self.checks = dict(_CHECKS)

    def root(self, api_version: str, kind: str) -> str | None:
        """Returns the type of a kind, None for an unknown one."""
        return self.lines.get(f"{api_version} {kind}")

    def type(self, name: str) -> Type:
        """Returns the type of this name."""
        found = self._types.get(name)
        if found is None:
            parts = [part.split("=", 1) for part in self.lines[name].split()]
            fields = {field.removesuffix("!"): reference for field, reference in parts}
            required = tuple(field[:-1] for field, _ in parts if field.endswith("!"))
            found = self._types[name] = Type(fields, required, fields.pop("*", None))
        return found

    def limited(self, name: str) -> Limited:
        """Returns the type of this name, which starts with `~`."""
        reference, *limits = self.lines[name].split("\t")
        return Limited(reference, dict(limit.split("=", 1) for limit in limits))

    def fits(self, reference: str, value: Any) -> bool:
        """True if a value surely fits a type. One that does not may be right, too: `faults` looks closer."""
        check = self.checks.get(reference) or self.prepare(reference)
        return value.__class__ is check or (check.__class__ is not type and check(value))

    def prepare(self, reference: str) -> Any:
        """Returns the check of a type: a Python class, or a function."""
        mark, rest = reference[0], reference[1:]
        if mark == "~":
            check = self._limited(reference)
        elif mark in "[{":
            inner = self.checks.get(rest) or self.prepare(rest)
            check = (_list if mark == "[" else _map)(inner)
        else:
            check = _mapping(self, self.type(reference))
        self.checks[reference] = check
        return check

    def _limited(self, reference: str) -> Fits:
        inner, limits = self.limited(reference)
        if limits.keys() == {"enum"}:
            return _one_of(frozenset(limits["enum"].split("|")))
        check = self.checks.get(inner) or self.prepare(inner)
        # Few fields have other limits, and most of these are numbers.
        return _limited(check, limits)


class _Checks(dict[str, Any]):
    """The checks of a type's fields, each made when the field first occurs."""

    def __init__(self, table: Table, known: Type) -> None:
        self._table, self._known = table, known

    def __missing__(self, field: str) -> Any:
        reference = self._known.fields.get(field, self._known.others)
        if reference is None:
            return _never
        check = self[field] = self._table.checks.get(reference) or self._table.prepare(reference)
        return check


def _mapping(table: Table, known: Type) -> Fits:
    checks, required = _Checks(table, known), frozenset(known.required)

    def check(value: Any) -> bool:
        if value.__class__ is not dict or (required and not required <= value.keys()):
            return False
        for field, item in value.items():
            wanted = checks[field]
            if item.__class__ is not wanted and (wanted.__class__ is type or not wanted(item)):
                return False
        return True

    return check


def _list(inner: Any) -> Fits:
    def check(value: Any) -> bool:
        if value.__class__ is not list:
            return False
        # A generator takes twice as long.
        for item in value:  # noqa: SIM110
            if item.__class__ is not inner and (inner.__class__ is type or not inner(item)):
                return False
        return True

    return check


def _map(inner: Any) -> Fits:
    def check(value: Any) -> bool:
        if value.__class__ is not dict:
            return False
        for item in value.values():
            if item.__class__ is not inner and (inner.__class__ is type or not inner(item)):
                return False
        return True

    return check


def _one_of(values: frozenset[str]) -> Fits:
    def check(value: Any) -> bool:
        return value.__class__ is str and value in values

    return check


def _limited(inner: Any, limits: dict[str, str]) -> Fits:
    def check(value: Any) -> bool:
        if value.__class__ is not inner and (inner.__class__ is type or not inner(value)):
            return False
        return within(limits, value)

    return check


def within(limits: dict[str, str], value: Any) -> bool:
    """True if a value of the right type is within limits."""
    for name, limit in limits.items():
        if name == "enum":
            inside = value in limit.split("|")
        elif name == "pattern":
            # `$` is only the end of the text in Go. In Python it also matches before a last line break.
            inside = re.search(re.sub(r"(?<!\\)\$(?=$|\))", r"\\Z", limit), str(value)) is not None
        elif name.endswith("imum"):
            inside = value >= float(limit) if name == "minimum" else value <= float(limit)
        else:
            inside = len(value) >= int(limit) if name.startswith("min") else len(value) <= int(limit)
        if not inside:
            return False
    return True


def _never(value: Any) -> bool:  # noqa: ARG001
    return False


def _anything(value: Any) -> bool:  # noqa: ARG001
    return True


def _number(value: Any) -> bool:
    return value.__class__ is int or value.__class__ is float


def _integer_or_string(value: Any) -> bool:
    return value.__class__ is int or value.__class__ is str


def _quantity(value: Any) -> bool:
    # The most frequent forms. `faults` knows the others.
    return value.__class__ is int or (value.__class__ is str and _PLAIN_QUANTITY(value) is not None)


_PLAIN_QUANTITY = re.compile("[0-9]+(?:[KMGTPE]i|[mkMGTPE])?").fullmatch
_CHECKS: dict[str, Any] = {
    "s": str, "i": int, "b": bool, "a": _anything, "n": _number, "x": _integer_or_string, "q": _quantity,
}  # fmt: skip


_tables: dict[str, Table | None] = {}


def table_of(api_version: str) -> Table | None:
    """Returns the table of an API group, None if there is none."""
    group, slash, _ = api_version.partition("/")
    name = BUILT_IN if not slash or "." not in group or group in _BUILT_IN_GROUPS else group
    if name not in _tables:
        _tables[name] = _read(name)
    return _tables[name]


def is_configuration(api_version: str) -> bool:
    """True for a kind that a component reads from a file: no API server has it."""
    return api_version.startswith(CONFIGURATIONS)


def _read(name: str) -> Table | None:
    # A group is a part of a file's name only if it is a name itself.
    if not name.replace(".", "").replace("-", "").isalnum():
        return None
    for folder in (FOLDER, OPERATORS, COMPONENTS):
        try:
            with open(os.path.join(folder, f"{name}.txt"), encoding="utf-8") as file:
                return Table(file.read(), has_pods=folder != OPERATORS)
        except OSError:
            pass
    return None
