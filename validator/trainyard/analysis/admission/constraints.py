"""The forms of conditions on the fields of one object, from which the tables are made.

A check takes a value and its place, and yields what is refused. A field that is null counts as missing, and a value
with a parameter, such as `${REPLICAS}`, as unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any

from trainyard.document.document import Place
from trainyard.document.lookup import mapping
from trainyard.document.source import Path
from trainyard.facts.kubernetes.quantities import parse_quantity
from trainyard.startup import NamedTuple, pattern

TO_FILL_IN = r"_[A-Z][A-Z0-9_]*_|(?i:\b(?:to|will) be (?:replaced|filled|set)\b)"
UNKNOWN = pattern(r"[{}$<>%@\[\]()]|\A[A-Z][A-Z0-9_-]+\Z|" + TO_FILL_IN)
LABEL_VALUE = pattern(r"(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?\Z")
_LABEL_KEY = pattern(r"(?:[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?\Z")
DNS_1035 = pattern(r"[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?\Z")
DNS_1123 = pattern(r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?\Z")
SUBDOMAIN = pattern(r"(?=.{1,253}\Z)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*\Z")
PORT_NAME = pattern(r"(?=.{1,15}\Z)(?=.*[a-z])(?!.*--)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?\Z")
# What to write instead of a name that is no `DNS_1123`.
LABEL = "use at most 63 lower case letters, digits and dashes"


class Refused(NamedTuple):
    """A fault: its place, what is wrong, and the remedy. `is_absence` is true if a patch may lack the rest."""

    at: Place
    message: str
    help: str
    is_absence: bool = False


Check = Callable[[Any, Place], Iterable[Refused]]


# The fields without which a check finds nothing.
_asked_for: dict[Check, tuple[str, ...]] = {}
_Numbered = tuple[int, Check]


def asking_for(*names: str) -> Callable[[Check], Check]:
    """Says of a check that it finds nothing in an object without any of these fields: it is not called then."""

    def known(check: Check) -> Check:
        _asked_for[check] = names
        return check

    return known


class Row(NamedTuple):
    """A check on the values at a path, where `[]` stands for every item of a list. `source` is where it was read."""

    path: str
    check: Check
    source: str


class _Fields:
    """The rows whose paths begin alike: those that end here, and those that go on, by the next field or to the items.

    Walking one tree of paths costs one look at each field that an object has, and not one for each row.
    """

    __slots__ = ("below", "ends", "of_field", "of_items")

    def __init__(self) -> None:
        self.ends: list[_Numbered] = []
        # The rows that end here and find nothing without this field.
        self.of_field: dict[str, list[_Numbered]] = {}
        self.below: dict[str, _Fields] = {}
        self.of_items: _Fields | None = None

    def add(self, path: tuple[str, ...], row: _Numbered) -> None:
        """Adds a row at a path from here."""
        if path:
            name = path[0].removesuffix("[]")
            fields = self.below.setdefault(name, _Fields())
            if path[0] != name:
                fields.of_items = fields = fields.of_items or _Fields()
            fields.add(path[1:], row)
        elif names := _asked_for.get(row[1]):
            for name in names:
                self.of_field.setdefault(name, []).append(row)
        else:
            self.ends.append(row)

    def find(self, tree: Any, path: Path, found: list[tuple[int, Check, Any, Path]]) -> None:
        """Adds the values at the ends of all paths, with the number and check of the row, and the path to the value."""
        for number, check in self.ends:
            found.append((number, check, tree, path))
        if self.of_items is not None and isinstance(tree, list):
            for index, one in enumerate(tree):
                self.of_items.find(one, (*path, index), found)
        if not isinstance(tree, dict):
            return
        if names := self.of_field.keys() & tree.keys():
            for number, check in {row for name in names for row in self.of_field[name]}:
                found.append((number, check, tree, path))
        for name in self.below.keys() & tree.keys():
            if tree[name] is not None:
                self.below[name].find(tree[name], (*path, name), found)


# By their identity: a hash of a table takes longer than most objects.
_compiled: dict[int, tuple[Sequence[Row], _Fields]] = {}


def refused(rows: Sequence[Row], tree: Any, at: Place) -> Iterator[Refused]:
    """Yields what the rows of a table refuse in an object, in the order of the rows."""
    known = _compiled.get(id(rows))
    if known is None:
        known = _compiled[id(rows)] = rows, _Fields()
        for number, row in enumerate(rows):
            known[1].add(tuple(row.path.split(".")) if row.path else (), (number, row.check))
    found: list[tuple[int, Check, Any, Path]] = []
    known[1].find(tree, (), found)
    found.sort(key=itemgetter(0))
    for _, check, value, path in found:
        yield from check(value, at.child(*path))


def is_known(value: Any) -> bool:
    """True if a value is not a parameter that a program or a person fills in later."""
    return not isinstance(value, str) or UNKNOWN.search(value) is None


def excluding(*names: str) -> Check:
    """At most one of these fields is set."""

    @asking_for(*names)
    def check(tree: Any, at: Place) -> Iterator[Refused]:
        given = [name for name in names if mapping(tree).get(name) is not None]
        if len(given) > 1:
            yield Refused(at.child(given[1]).key(), f"`{given[0]}` and `{given[1]}` exclude each other", "remove one")

    return check


def one_of(*names: str) -> Check:
    """Exactly one of these fields is set."""

    def check(tree: Any, at: Place) -> Iterator[Refused]:
        if not isinstance(tree, dict):
            return
        yield from excluding(*names)(tree, at)
        if all(tree.get(name) is None for name in names):
            yield Refused(at, f"one of {_listed(names)} is missing", "add one of them", is_absence=True)

    return check


def requiring(name: str, other: str, *values: Any, default: Any = None) -> Check:
    """A field goes with another one alone, and only if that has one of these values."""

    @asking_for(name)
    def check(tree: Any, at: Place) -> Iterator[Refused]:
        tree = mapping(tree)
        if tree.get(name) is None or tree.get(name) is False:
            return
        given = tree.get(other, default)
        if given in values if values else given is not None:
            return
        if is_known(given):
            first = next(iter(values), None)
            right = f"`{other}: {str(first).lower() if isinstance(first, bool) else first}`"
            wanted = right if values else f"`{other}`"
            yield Refused(at.child(name).key(), f"`{name}` needs {wanted}", f"write {wanted}, or remove `{name}`")

    return check


def needing(*names: str) -> Check:
    """These fields are set and not empty."""

    def check(tree: Any, at: Place) -> Iterator[Refused]:
        for name in names if isinstance(tree, dict) else ():
            if tree.get(name) is None or tree.get(name) in ("", [], {}):
                yield Refused(at.child(name) if name in tree else at, f"`{name}` is missing", f"add `{name}`", True)

    return check


def filled(*names: str) -> Check:
    """These fields are not the empty text. Other rules report one that is missing."""

    @asking_for(*names)
    def check(tree: Any, at: Place) -> Iterator[Refused]:
        for name in names:
            if mapping(tree).get(name) == "":
                yield Refused(at.child(name), f"`{name}` is empty", "give it a value, or remove the entry")

    return check


def ordered(low: str, high: str) -> Check:
    """A number or quantity is at most another one; maps of quantities are compared by resource."""

    @asking_for(low)
    def check(tree: Any, at: Place) -> Iterator[Refused]:
        small, large = mapping(tree).get(low), mapping(tree).get(high)
        if not isinstance(small, dict):
            yield from _compared(small, large, f"`{low}`", f"`{high}`", at.child(low))
            return
        for name, value in small.items():
            most = mapping(large).get(name)
            yield from _compared(value, most, f"`{low}` of {name}", f"`{high}`", at.child(low, name))

    return check


def _compared(small: Any, large: Any, low: str, high: str, at: Place) -> Iterator[Refused]:
    less, more = parse_quantity(small), parse_quantity(large)
    if less is not None and more is not None and less > more:
        yield Refused(at, f"{low} is {small}, above {high}, {large}", f"write at most {large}")


def within(name: str, low: int, high: int | None = None) -> Check:
    """An integer has these bounds."""

    @asking_for(name)
    def check(tree: Any, at: Place) -> Iterator[Refused]:
        value = mapping(tree).get(name)
        if isinstance(value, bool) or not isinstance(value, int):
            return
        if value < low:
            yield Refused(at.child(name), f"`{name}` is {value}, and must be at least {low}", f"write {low} or more")
        elif high is not None and value > high:
            yield Refused(at.child(name), f"`{name}` is {value}, and must be at most {high}", f"write {high} or less")

    return check


def unique(*names: str) -> Check:
    """No two items of a list have the same values of these fields, but for 0. Without a name, the items differ."""

    def check(value: Any, at: Place) -> Iterator[Refused]:
        known: set[tuple[Any, ...]] = set()
        for index, one in enumerate(value if isinstance(value, list) else ()):
            key = tuple(str(mapping(one).get(name)) for name in names) if names else (str(one),)
            if names and not mapping(one).get(names[0]):
                continue
            if key in known:
                place = at.child(index, names[0]) if names else at.child(index)
                what = f"`{names[0]}` {key[0]}" if names else f"`{key[0]}`"
                yield Refused(place, f"{what} is listed twice", "remove or change one of the two")
            known.add(key)

    return check


def named(name: str, form: Any, what: str) -> Check:
    """A text has a form."""

    @asking_for(name)
    def check(tree: Any, at: Place) -> Iterator[Refused]:
        value = mapping(tree).get(name)
        if isinstance(value, str) and value and is_known(value) and not form.match(value):
            yield Refused(at.child(name), f"`{value}` is not a valid `{name}`", what)

    return check


def labelled(value: Any, at: Place) -> Iterator[Refused]:
    """Keys and values are those of labels."""
    for name, one in mapping(value).items():
        if is_known(name) and not _LABEL_KEY.match(str(name)):
            yield Refused(at.child(name).key(), f"`{name}` is not a valid label key", "write a name, or DOMAIN/NAME")
        if isinstance(one, str) and is_known(one) and not LABEL_VALUE.match(one):
            told = "use at most 63 letters, digits, `-`, `_` and `.`"
            yield Refused(at.child(name), f"`{one}` is not a valid label value", told)


def amount(value: Any) -> float | None:
    """Returns the number of `2` or of `25%`; None for anything else."""
    if isinstance(value, str) and value.endswith("%") and value[:-1].isdigit():
        return float(value[:-1])
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else None


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
