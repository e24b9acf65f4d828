"""Traces each rendered field of any chart to its value: change values, render again, and compare.

Texts and counts are all changed at once, each to a unique mark: if a field contains the mark and equals its old text
once the mark is replaced, the field comes from that value. The rest (switches, lists, arithmetic, values that a
template refuses) is narrowed down by changing half of the values, then a quarter, within a budget of renders.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gotemplate.origin import Origin
from trainyard.document.source import Path
from trainyard.loaders.marks import Leaf, Marks, with_changes
from trainyard.loaders.origins import value_at

MAX_RENDERS = 160
_GROUP = 8
_WORKERS = 4

# An object by template, kind and name, and the path to a node in it. Items of a list are identified by their names.
Key = tuple[Any, ...]
# The objects of one render: the template and the tree of each.
Objects = Sequence[tuple[str, Any]]


class Trace(NamedTuple):
    """Origins by index of the object, and the paths of values that change nothing.

    A trace that ran out of time is not `whole`: it has fewer origins, and no value is known to change nothing.
    """

    origins: tuple[dict[Path, Origin], ...]
    inert: tuple[Path, ...]
    whole: bool = True


class _Node(NamedTuple):
    """A node of a render: the number of its object, its path there, and its value if it is a leaf."""

    number: int
    path: Path
    value: Any


def trace(
    base: Objects,
    again: Objects,
    render: Callable[[Mapping[str, Any]], Objects | None],
    own: Mapping[str, Any],
    merged: Mapping[str, Any],
    end: float,
) -> Trace:
    """Traces the objects `base`; `again` is a second render, whose differences are random.

    `render` returns the objects for other values, None if the chart refuses them. `own` are the user's values, `merged`
    those with the chart's defaults. Nothing is rendered after `end`, a time of `time.monotonic`.
    """
    search = _Search(base, again, Marks(merged, str(base)))
    plain = [leaf for leaf in search.marks.leaves if leaf.is_text or leaf.is_count]
    others = [leaf for leaf in search.marks.leaves if not (leaf.is_text or leaf.is_count)]
    groups = [plain, *(others[n : n + _GROUP] for n in range(0, len(others), _GROUP))]
    budget = MAX_RENDERS
    from concurrent.futures import ThreadPoolExecutor

    def in_time(values: Mapping[str, Any]) -> Objects | None:
        return render(values) if time.monotonic() < end else None

    with ThreadPoolExecutor(_WORKERS) as workers:
        while groups := [group for group in groups if group][:budget]:
            budget -= len(groups)
            renders = list(workers.map(in_time, [search.values(own, merged, group) for group in groups]))
            tried = list(zip(groups, renders, strict=True))
            if time.monotonic() >= end:
                # The chart refused none of the renders that are missing.
                tried = [(group, objects) for group, objects in tried if objects is not None]
                budget = 0
            groups = [further for group, objects in tried for further in search.examine(group, objects)]
    # A last render changes no switch, and so restores everything that a switch removed in the first render.
    plain = [leaf for leaf in plain if leaf.path not in search.switches]
    search.examine(plain, in_time(search.values(own, merged, plain)))
    whole = time.monotonic() < end
    origins = (_with_parents(found, base[n][1], merged) for n, found in enumerate(search.origins))
    return Trace(tuple(origins), search.inert() if whole else (), whole)


class _Search:
    """The state of a search."""

    def __init__(self, base: Objects, again: Objects, marks: Marks) -> None:
        self.marks = marks
        self.origins: list[dict[Path, Origin]] = [{} for _ in base]
        # Values that change more than the places where they are written, or that may not be changed.
        self.switches: set[Path] = set()
        self._shown: list[set[Path]] = [set() for _ in base]
        self._silent: set[Path] = set()
        self._heard: set[Path] = set()
        self._base = _nodes(base, None)
        second = _nodes(again, None)
        self._random = {key for key, node in self._base.items() if key not in second or second[key].value != node.value}

    def values(self, own: Mapping[str, Any], merged: Mapping[str, Any], group: list[Leaf]) -> dict[str, Any]:
        """Returns the user's values with changes in a group of leaves."""
        return with_changes(own, merged, [(leaf.path, self.marks.changed(leaf)) for leaf in group])

    def inert(self) -> tuple[Path, ...]:
        """Returns the values that nothing depends on."""
        return tuple(leaf.path for leaf in self.marks.leaves if leaf.path in self._silent - self._heard - self.switches)

    def examine(self, group: list[Leaf], objects: Objects | None) -> list[list[Leaf]]:
        """Renders with changes in a group of leaves and returns the groups that are worth another render."""
        if objects is None:
            return _halves(group) if len(group) > 1 else self._refused(group[0])
        changed = _nodes(objects, self.marks)
        seen: set[Path] = set()
        unexplained = False
        for key, node in changed.items():
            found, restored = self.marks.found(node.value)
            seen.update(leaf.path for leaf in found)
            before = self._base.get(key)
            if before is None or (before.value != restored and key not in self._random):
                unexplained = True
                if len(group) == 1:
                    self._blame(group[0], key, node)
            elif found:
                self._credit(found, before, node)
        for key in self._base.keys() - changed.keys():
            unexplained = True
            if len(group) == 1 and key[:-1] not in self._base.keys() - changed.keys():
                self._blame(group[0], key, None)
        self._heard |= seen
        if not unexplained:
            self._silent.update(leaf.path for leaf in group if leaf.path not in seen)
            return []
        if len(group) == 1:
            self.switches.add(group[0].path)
            return []
        rest = [leaf for leaf in group if not (leaf.is_text and leaf.path in seen)]
        return [rest] if len(rest) < len(group) else _halves(group)

    def _refused(self, leaf: Leaf) -> list[list[Leaf]]:
        """Handles a refused value of a leaf: a count gets a second chance with one more."""
        if leaf.is_count and leaf.number not in self.marks.gentle:
            self.marks.gentle.add(leaf.number)
            return [[leaf]]
        self.switches.add(leaf.path)
        return []

    def _credit(self, found: list[Leaf], before: _Node, after: _Node) -> None:
        """Assigns a node to the leaves whose marks it shows."""
        leaf = found[-1]
        exact = _same(before.value, leaf.value) and _same(after.value, self.marks.changed(leaf))
        if before.path not in self._shown[before.number]:
            self._shown[before.number].add(before.path)
            self.origins[before.number][before.path] = Origin(_common(found) or leaf.path, exact=exact)

    def _blame(self, leaf: Leaf, key: Key, after: _Node | None) -> None:
        """Assigns a node that appears, disappears or changes to a leaf."""
        before = self._base.get(key)
        if before is not None and after is not None and _same(before.value, leaf.value):
            self._credit([leaf], before, after)
            return
        known = key
        while known not in self._base and len(known) > 1:
            known = known[:-1]
        if known not in self._base:
            return
        node = self._base[known]
        missing = key[len(known) : len(known) + 1]
        below = missing and isinstance(missing[0], str) and not self.marks.found(missing[0])[0]
        path = (*node.path, *missing) if below else node.path
        # A value that toggles an object does not own its other fields.
        if path:
            self.origins[node.number].setdefault(path, Origin(leaf.path))


def _common(found: list[Leaf]) -> Path:
    """Returns the path of the smallest part of the values that contains all of the leaves."""
    first, *others = (leaf.path for leaf in found)
    shared = (n for n, step in enumerate(first) if any(path[n : n + 1] != (step,) for path in others))
    return first[: next(shared, len(first))]


def _same(rendered: Any, value: Any) -> bool:
    """True if a rendered scalar equals a value, possibly as text."""
    written = str(value).lower() if isinstance(value, bool) else str(value)
    return (str(rendered).lower() if isinstance(rendered, bool) else str(rendered)).rstrip() == written.rstrip()


def _halves(group: list[Leaf]) -> list[list[Leaf]]:
    middle = len(group) // 2
    return [group[:middle], group[middle:]] if middle else []


def _nodes(objects: Objects, marks: Marks | None) -> dict[Key, _Node]:
    """Returns all nodes of a render by key; with marks, names are those before the change."""
    nodes: dict[Key, _Node] = {}
    for index, (template, tree) in enumerate(objects):
        kind, name = (tree.get("kind"), _name(tree.get("metadata"), marks)) if isinstance(tree, dict) else (None, None)
        root: Key = ((template, kind, name),)
        while root in nodes:
            root = ((*root[0], "again"),)
        for key, path, value in _walk(tree, root, (), marks):
            nodes[key] = _Node(index, path, value)
    return nodes


def _walk(tree: Any, key: Key, path: Path, marks: Marks | None) -> Iterator[tuple[Key, Path, Any]]:
    children: Any = ()
    if isinstance(tree, dict):
        children = [(step, step, item) for step, item in tree.items()]
    elif isinstance(tree, list):
        names = [_name(item, marks) for item in tree]
        named = all(isinstance(name, str) for name in names) and len(set(names)) == len(names)
        children = [((names[n],) if named else n, n, item) for n, item in enumerate(tree)]
    yield key, path, None if children else tree
    for alias, step, item in children:
        yield from _walk(item, (*key, alias), (*path, step), marks)


def _name(tree: Any, marks: Marks | None) -> Any:
    name = tree.get("name") if isinstance(tree, dict) else None
    return marks.found(name)[1] if marks is not None else name


def _with_parents(origins: dict[Path, Origin], tree: Any, values: Any) -> dict[Path, Origin]:
    """Returns the origins, with those of mappings and lists that are whole copies, and of entries `{name, value}`."""
    result = dict(origins)
    for path, origin in origins.items():
        ours, theirs = path, origin.path
        if origin.exact and ours[-1:] == ("value",) and value_at(tree, (*ours[:-1], "name")) == theirs[-1]:
            result.setdefault(ours[:-1], Origin(theirs, whole=True))
            result.setdefault((*ours[:-1], "name"), Origin(theirs, on_key=True))
        while origin.exact and len(theirs) > 1 and ours and ours[-1] == theirs[-1]:
            ours, theirs = ours[:-1], theirs[:-1]
            if value_at(tree, ours) != value_at(values, theirs):
                break
            result.setdefault(ours, Origin(theirs, exact=True))
    return result
