"""Describes what does not fit the schema of its kind."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from trainyard.document.document import Place
from trainyard.document.placeholders import is_word_in_braces
from trainyard.engine.suggestions import closest_match, format_list
from trainyard.loaders.json_schema import format_value
from trainyard.loaders.origins import RenderedDocument
from trainyard.loaders.schemas.nearby import belongs
from trainyard.loaders.schemas.partial import is_assertion, is_partial
from trainyard.loaders.schemas.table import BUILT_IN, is_configuration, table_of, within
from trainyard.model.run import Misfit

if TYPE_CHECKING:
    from trainyard.document.source import Path
    from trainyard.loaders.schemas.table import Table
    from trainyard.model.run import Resource

# Groups of which the release that is known here has every field: that of Kubernetes is the newest, and the last release
# of the training operator is out. Fields of other groups that are not known may be those of another release.
_COMPLETE = ("kubeflow.org/", "k8s.cni.cncf.io/", "kubelet.config.k8s.io/", "kubescheduler.config.k8s.io/")
# No webhook adds required fields to objects of these groups.
# Source: kubernetes-sigs/kueue v0.19.2 pkg/webhooks: Default of ClusterQueue and ResourceFlavor adds a finalizer alone.
_UNCHANGED = ("kueue.x-k8s.io/",)
# No webhook adds to the items of these.
_POD_LISTS = frozenset(("containers", "initContainers", "volumes"))
# Names for a spec of a pod, which a type with the fields of one does not have.
_INLINE = ("podSpec", "spec")
# Spark, Flink and others complete the spec of a Pod or of an object of their own, which may have no containers.
_POD_SPEC, _OF_TEMPLATE = "PodSpec", 2
_COMPOSITIONS = "apiextensions.crossplane.io/"
_ALIKE, _SURELY_ALIKE = 0.8, 0.85
_FEW = 8
# Go programs write it into every template.
_UNSET_TIME = ("creationTimestamp", None)
# Exports of OpenShift 3 have this field of the first versions of its API in each container, and its clients drop it.
_UNSET_CAPABILITIES: tuple[str, Any] = ("capabilities", {})
# Text that a program replaces before the API server sees the object.
_PLACEHOLDER = re.compile(r"\{\{|\$\{|\$\(|\$[A-Z_]|^<.*>$|^\(.*\)$|^__\w+__$|^@\w+@$|^%\w+%$|^[A-Z]+(?:_[A-Z0-9]+)+$")
# The number of a field that replaces one of a former release, as `serveConfigV2` does.
_NUMBER = re.compile(r"V\d+\Z")
# A word in capitals is a placeholder where a number belongs.
_CAPITALS = re.compile(r"[A-Z]{3,}").fullmatch
_QUANTITY = re.compile(r"[+-]?([0-9]+(?:\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?").fullmatch
_TAKES = {
    "s": "a string", "i": "an integer", "n": "a number", "b": "true or false", "q": "a quantity",
    "x": "an integer or a string",
}  # fmt: skip
_CLASSES: dict[str, tuple[type, ...]] = {"s": (str,), "i": (int,), "n": (int, float), "b": (bool,), "x": (int, str)}
_BOUNDS = {
    "minimum": "at least {}", "maximum": "at most {}", "minLength": "at least {} characters",
    "maxLength": "at most {} characters", "minItems": "at least {} items", "maxItems": "at most {} items",
    "pattern": "text that matches {}",
}  # fmt: skip

_OF_API_SERVER = ("kubectl refuses it, other clients drop it", "Kubernetes refuses the object")
_OF_PROGRAM = ("the program refuses its configuration, or ignores the field", "the program refuses its configuration")

# The type of selectors is the same in all kinds and releases.
_OF_SELECTOR = {"matchLabels", "matchExpressions"}

# The types from the root down to a mapping, with the steps between them.
Chain = tuple[tuple[str, tuple[str | int, ...]], ...]


def faults(table: Table, root: str, resource: Resource) -> Iterator[Misfit]:
    """Yields every fault of an object."""
    if is_assertion(resource.at.document):
        return
    version = resource.api_version
    complete = table is table_of(BUILT_IN) or version.startswith(_COMPLETE)
    walk = _Walk(table, resource.at, complete=complete, is_read=is_configuration(version))
    walk.is_changed = not version.startswith(_UNCHANGED)
    yield from walk.value(root, resource.tree, ((root, ()),))


def faults_of_pod(table: Table, root: str, spec: dict[str, Any], at: Place) -> Iterator[Misfit]:
    """Yields the faults of a pod's spec in an object of unknown kind, whose fields may be more than those of a pod."""
    yield from _Walk(table, at, complete=False).value(root, spec, ((root, ()),))


def faults_of_part(table: Table, root: str, part: dict[str, Any], at: Place) -> Iterator[Misfit]:
    """Yields the faults of a part of a pod that an object of unknown kind takes over as it is."""
    yield from _Walk(table, at, complete=True).value(root, part, ((root, ()),))


class _Walk:
    """Walks through one object."""

    def __init__(self, table: Table, at: Place, *, complete: bool, is_read: bool = False) -> None:
        self._table, self._at, self._complete = table, at, complete
        # True if the webhook of an operator may add fields.
        self.is_changed = not complete
        self._is_rendered = isinstance(at.document, RenderedDocument)
        is_template = at.path[:1] == ("objects",)
        self._without_effect = (_UNSET_TIME, _UNSET_CAPABILITIES) if is_template else (_UNSET_TIME,)
        # What becomes of an unknown field and of a wrong value: no API server sees a configuration.
        self._dropped, self._refused = _OF_PROGRAM if is_read else _OF_API_SERVER

    def value(self, reference: str, value: Any, chain: Chain) -> Iterator[Misfit]:
        """Yields the faults of a value; `chain` ends with the step to it."""
        if (
            value is None
            or reference == "a"
            or _is_placeholder(value)
            or (reference in _TAKES and is_word_in_braces(value))
        ):
            return
        if reference.startswith("~"):
            yield from self._limited(reference, value, chain)
        elif not _is(reference, value):
            if not _is_variable(self._place(chain).path) and not _stands_for_number(reference, value):
                yield self._wrong(chain, value, _takes(reference), reference)
        elif reference.startswith("["):
            for index, item in enumerate(value):
                yield from self.value(reference[1:], item, _deeper(chain, reference[1:], index))
        elif reference.startswith("{"):
            for key, item in value.items():
                yield from self.value(reference[1:], item, _deeper(chain, reference[1:], key))
        elif isinstance(value, dict):
            yield from self._mapping(reference, value, chain)

    def _limited(self, reference: str, value: Any, chain: Chain) -> Iterator[Misfit]:
        inner, limits = self._table.limited(reference)
        found = list(self.value(inner, value, chain))
        yield from found
        # The API server takes an empty text for a field that is not set.
        if found or not _is(inner, value) or value == "" or within(limits, value):
            return
        if "enum" in limits:
            values = [one for one in limits["enum"].split("|") if one]
            alike = _ALIKE if self._complete else _SURELY_ALIKE
            meant = _folded(value, values) or closest_match(str(value), values, alike)
            if meant is None and not self._complete:
                place, names = self._place(chain), limits["enum"].replace("|", ", ")
                said = f"`{_last_name(place.path)}` {format_value(value)} is not one of {names}"
                yield Misfit("other release", place, f"{said}; another release may have it")
                return
            takes = format_list(f"`{one}`" for one in values)
            yield self._wrong(chain, value, f"one of {takes}", "s")._replace(
                name=meant, help=f"did you mean `{meant}`?" if meant else ""
            )
        else:
            takes = " and ".join(_BOUNDS[name].format(limit) for name, limit in limits.items())
            yield self._wrong(chain, value, takes, "")

    def _mapping(self, name: str, tree: dict[str, Any], chain: Chain) -> Iterator[Misfit]:
        known = self._table.type(name)
        for field, value in tree.items():
            reference = known.fields.get(field, known.others)
            if reference is not None:
                yield from self.value(reference, value, _deeper(chain, reference, field))
            elif not _is_directive(field) and (field, value) not in self._without_effect:
                yield from self._unknown(field, value, tree, chain)
        missing = [field for field in known.required if tree.get(field) is None]
        # The defaults of a chart leave open what each user fills in.
        if missing and self._is_rendered:
            missing = [field for field in missing if field not in tree]
        if name == _POD_SPEC and len(chain) <= _OF_TEMPLATE and "containers" not in tree:
            missing = []
        if missing and "$patch" not in tree and not self._is_open(chain):
            at = self._key(chain)
            names = format_list(f"`{field}`" for field in missing)
            yield Misfit("missing field", at, f"{_said(at.path)} needs {names}", name=missing[0])

    def _is_open(self, chain: Chain) -> bool:
        """True if something else may add to the mapping: another file, or the webhook of an operator.

        Items of a list are always whole.
        """
        path = self._place(chain).path
        if not self._complete and self.is_changed and not _POD_LISTS.intersection(path):
            return True
        if isinstance(path[-1] if path else "", int):
            return False
        return self._is_composed(path) or is_partial(self._at.document)

    def _is_composed(self, path: Path) -> bool:
        """True in a resource of a composition of Crossplane, which patches fill in."""
        return "base" in path and str(self._at.document.tree.get("apiVersion")).startswith(_COMPOSITIONS)

    def _unknown(self, field: str, value: Any, tree: dict[str, Any], chain: Chain) -> Iterator[Misfit]:
        at = self._place(chain).child(field).key()
        fields = self._table.type(chain[-1][0].lstrip("[{")).fields
        alike = _ALIKE if self._complete else _SURELY_ALIKE
        rest = [one for one in fields if one not in tree]
        meant = _folded(field, rest)
        # The spec of a kind such as KServe's ServingRuntime has fields beside those of a pod.
        of_other_kind = not self._complete and len(chain) == 1
        right = None if meant or of_other_kind else belongs(self._table, chain, field, value)
        meant = meant or (None if right else closest_match(field, rest, alike))
        owner = _said(at.path[:-1])
        message = f"`{field}` is not a field of {owner}: {self._dropped}"
        is_former = not self._complete and meant is not None and _NUMBER.sub("", meant) == _NUMBER.sub("", field)
        if meant is not None and not is_former:
            yield Misfit("unknown field", at, message, f"did you mean `{meant}`?", meant)
        elif right is not None and not is_former:
            yield Misfit("unknown field", at, message, f"it is a field of {_said(right)}")
        elif field in _INLINE and _POD_LISTS & fields.keys() and _is_all_of(value, fields):
            yield Misfit("unknown field", at, message, f"write its fields directly in {owner}")
        elif self._complete or fields.keys() == _OF_SELECTOR:
            listed = (
                f"the fields are {format_list(f'`{one}`' for one in sorted(fields))}" if len(fields) <= _FEW else ""
            )
            yield Misfit("unknown field", at, message, listed)
        else:
            yield Misfit("other release", at, f"`{field}` is not known in {owner}; another release may have it")

    def _wrong(self, chain: Chain, value: Any, takes: str, wanted: str) -> Misfit:
        at = self._key(chain) if isinstance(value, dict | list) else self._place(chain)
        said = f"`{_last_name(at.path)}` takes {takes}, not {format_value(value)}"
        return Misfit("wrong value", at, f"{said}: {self._refused}", "", None, wanted, value)

    def _key(self, chain: Chain) -> Place:
        """Returns the place of a field's name, which a reader looks at when its value has many lines."""
        place = self._place(chain)
        return place if isinstance(place.path[-1] if place.path else 0, int) else place.key()

    def _place(self, chain: Chain) -> Place:
        return self._at.child(*(step for _, steps in chain for step in steps))


def _deeper(chain: Chain, reference: str, step: str | int) -> Chain:
    return (*chain, (reference, (step,)))


def _is(reference: str, value: Any) -> bool:
    mark = reference[0]
    if mark == "q":
        return (isinstance(value, int | float) and not isinstance(value, bool)) or (
            isinstance(value, str) and _QUANTITY(value) is not None
        )
    if reference in _CLASSES:
        whole = isinstance(value, float) and value.is_integer() and int in _CLASSES[reference]
        fits = isinstance(value, _CLASSES[reference]) and (mark == "b" or not isinstance(value, bool))
        return fits or whole
    return isinstance(value, list if mark == "[" else dict)


def _is_variable(path: tuple[str | int, ...]) -> bool:
    """True for the value of a container's variable, of which the rule env-value-not-string says more."""
    in_container = path[-4:-3] == ("trainer",) or path[-5:-4] in (("containers",), ("initContainers",))
    return path[-1:] == ("value",) and path[-3:-2] == ("env",) and in_container


def _stands_for_number(reference: str, value: Any) -> bool:
    return reference in ("i", "n", "q", "x") and isinstance(value, str) and _CAPITALS(value) is not None


def _is_all_of(value: Any, fields: Mapping[str, str]) -> bool:
    """True for a mapping whose fields are all those of the one around it."""
    return isinstance(value, dict) and bool(value) and all(name in fields for name in value)


def _takes(reference: str) -> str:
    if reference[0] == "[":
        return "a list"
    return _TAKES.get(reference, "a mapping")


def _is_placeholder(value: Any) -> bool:
    return isinstance(value, str) and _PLACEHOLDER.search(value) is not None


def _is_directive(field: Any) -> bool:
    """True for a key that a patch, a file of SOPS, or a template that is not yet filled in may have."""
    return not isinstance(field, str) or field.startswith("$") or field == "sops" or _is_placeholder(field)


def _folded(word: Any, known: list[str]) -> str | None:
    """Returns the known word that differs in nothing but capitals, dashes and underscores."""
    plain = re.sub("[-_]", "", str(word)).lower()
    return next((one for one in known if one.lower() == plain), None)


def _said(path: tuple[str | int, ...]) -> str:
    """Returns a path as `kubectl explain` writes it, with the indexes of lists."""
    steps = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return f"`{steps.removeprefix('.')}`" if path else "the object"


def _last_name(path: tuple[str | int, ...]) -> str:
    """Returns the last field of a path with the index behind it."""
    last = next((number for number in range(len(path) - 1, -1, -1) if isinstance(path[number], str)), 0)
    return _said(path[last:]).strip("`")
