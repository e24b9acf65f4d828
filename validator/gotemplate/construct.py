"""Plain data from YAML nodes."""

from __future__ import annotations

import base64
import math
from typing import Any, NamedTuple

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from gotemplate.origin import Path
from gotemplate.scalars import key_text, resolve_scalar

_BINARY = "tag:yaml.org,2002:binary"
# Types of Python for tags.
_TAGS: dict[str, Any] = {
    "tag:yaml.org,2002:str": str,
    _BINARY: str,
    "tag:yaml.org,2002:int": int,
    "tag:yaml.org,2002:float": int | float,
    "tag:yaml.org,2002:bool": bool,
    "tag:yaml.org,2002:null": type(None),
}

# One mebibyte of manifest has some 10^5 nodes. Aliases and merge keys can expand a thousand bytes to more than memory
# holds, so larger expansions are refused. go-yaml, the parser of Kubernetes, begins to refuse here too.
MAX_EXPANDED = 400_000
MAX_DEPTH = 200


class UnusableError(Exception):
    """A well-formed document that cannot be used; `args[0]` gives the reason."""


class _Extent(NamedTuple):
    """The number of nodes below a node, with its aliases expanded, and their nesting depth."""

    nodes: int
    height: int


class Builder:
    """Builds plain data from nodes. Aliased nodes are built once and shared; extents count them as if written out."""

    def __init__(self) -> None:
        self.repeated: list[Path] = []
        self._built: dict[int, Any] = {}
        self._extents: dict[int, _Extent] = {}
        self._nodes = 0
        self._deepest = 0
        self._expanded = 0

    def build(self, node: Any, path: Path, depth: int) -> Any:
        """Returns the data of a node at a path and a depth. Raises `UnusableError`."""
        if isinstance(node, ScalarNode):
            return plain_data(node)
        known = self._built.get(id(node))
        if known is not None:
            self._expand(node, depth)
            return known
        _check_depth(depth)
        before, outside = self._nodes, self._deepest
        self._nodes, self._deepest = before + len(node.value), depth
        tree = self._collection(node, path, depth)
        self._extents[id(node)] = _Extent(self._nodes - before, self._deepest - depth)
        self._deepest = max(self._deepest, outside)
        return tree

    def _expand(self, node: Any, depth: int) -> None:
        extent = self._extents.get(id(node))
        if extent is None:
            raise UnusableError("an alias is within its own anchor")
        _check_depth(depth + extent.height)
        self._deepest = max(self._deepest, depth + extent.height)
        self._nodes += extent.nodes
        self._count(extent.nodes)

    def _count(self, nodes: int) -> None:
        self._expanded += nodes
        if self._expanded > MAX_EXPANDED:
            raise UnusableError("its aliases and merge keys expand to more data than can be read")

    def _collection(self, node: Any, path: Path, depth: int) -> Any:
        if isinstance(node, SequenceNode):
            items: list[Any] = []
            self._built[id(node)] = items
            for index, child in enumerate(node.value):
                items.append(self.build(child, (*path, index), depth + 1))
            return items
        fields: dict[str, Any] = {}
        self._built[id(node)] = fields
        self._fill(fields, node, path, depth)
        return fields

    def _fill(self, fields: dict[str, Any], node: MappingNode, path: Path, depth: int) -> None:
        merged: list[Node] = []
        for key, child in node.value:
            if not isinstance(key, ScalarNode):
                raise UnusableError("a mapping key is a list or a mapping; Kubernetes keys are strings")
            if key.value == "<<" and not key.style:
                merged.append(child)
                continue
            name = key_name(key)
            if name in fields:
                self.repeated.append((*path, name))
            # Most values are scalars, and a call for each of them would double the time.
            if isinstance(child, ScalarNode):
                fields[name] = child.value if child.style and not child.tag else plain_data(child)
            else:
                fields[name] = self.build(child, (*path, name), depth + 1)
        for child in merged:
            self._merge(fields, child, path, depth)

    def _merge(self, fields: dict[str, Any], node: Node, path: Path, depth: int) -> None:
        for source in node.value if isinstance(node, SequenceNode) else [node]:
            values = self.build(source, path, depth + 1)
            if not isinstance(values, dict):
                raise UnusableError("a merge key `<<` needs a mapping, or a list of mappings")
            self._count(len(values))
            for name, value in values.items():
                fields.setdefault(name, value)


def key_name(key: ScalarNode) -> str:
    """Returns the name of a field, as it is in JSON. Raises `UnusableError`."""
    if key.style or key.tag:
        return str(key.value)
    try:
        return key_text(key.value)
    except ValueError as error:
        raise UnusableError(str(error)) from None


def plain_data(node: ScalarNode) -> Any:
    """Returns the value of a scalar. Raises `UnusableError` for one that JSON does not have, and for a wrong tag."""
    text = node.value
    if node.tag and node.tag in _TAGS:
        return _tagged(node.tag, text)
    return text if node.style else _resolved(text)


def _resolved(text: str) -> Any:
    value = resolve_scalar(text)
    if value.__class__ is float and not math.isfinite(value):
        raise UnusableError(
            f"{text} is not a value of Kubernetes, because JSON has none for it; write a number or a text"
        )
    return value


def _tagged(tag: str, text: str) -> Any:
    """Returns a scalar with a tag of YAML, whose quotes do not count."""
    types = _TAGS[tag]
    if tag == _BINARY:
        try:
            return base64.b64decode("".join(text.split()), validate=True).decode("utf-8", "replace")
        except ValueError:
            raise UnusableError("a value with the tag !!binary is not base64") from None
    if types is str:
        return text
    value = _resolved(text)
    if not isinstance(value, types) or (isinstance(value, bool) and types is not bool):
        raise UnusableError(f"`{text[:40]}` does not have the type of its tag, !!{tag.rpartition(':')[2]}")
    return value


def _check_depth(depth: int) -> None:
    if depth > MAX_DEPTH:
        raise UnusableError(f"it is nested more than {MAX_DEPTH} levels deep")
