"""The syntax trees of a package, and the words and fields in them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

Words = tuple[str, ...] | None
_DEEPEST = 6


class Sources:
    """The syntax trees of a package: its constants, and the fields of its classes."""

    def __init__(self, files: Iterable[Path]) -> None:
        self.trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in files if path.is_file()}
        self.constants: dict[str, ast.expr] = {}
        self.classes: dict[str, ast.ClassDef] = {}
        for tree in self.trees.values():
            for node in tree.body:
                if isinstance(node, ast.ClassDef):
                    self.classes.setdefault(node.name, node)
                name, value = _assigned(node)
                if name and value is not None:
                    self.constants.setdefault(name, value)

    def fields(self, name: str) -> Iterator[tuple[str, ast.expr, ast.expr | None]]:
        """Yields the fields of a class and of its bases: name, annotation and default."""
        found = self.classes.get(name)
        if found is None:
            return
        for base in found.bases:
            yield from self.fields(last_name(base))
        for node in found.body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                yield node.target.id, node.annotation, node.value

    def calls(self, *functions: str) -> Iterator[ast.Call]:
        """Yields the calls of `add_argument` in functions with these names."""
        for tree in self.trees.values():
            inner = [one for node in tree.body if isinstance(node, ast.ClassDef) for one in node.body]
            for node in (*tree.body, *inner):
                if isinstance(node, ast.FunctionDef) and node.name in functions:
                    yield from add_arguments(node)

    def words(self, node: ast.expr | None, depth: int = 0) -> Words:
        """Returns the words of a list, a `Literal`, an enumeration or the keys of a dictionary; None if it is open."""
        if node is None or depth > _DEEPEST:
            return None
        reader = _READERS.get(type(node))
        return reader(self, node, depth + 1) if reader is not None else None

    def constant(self, node: ast.Constant, _: int) -> Words:
        """Returns a constant."""
        return None if node.value is None else (str(node.value),)

    def sequence(self, node: ast.List | ast.Tuple | ast.Set, depth: int) -> Words:
        """Returns the words of all items."""
        inner = [one.value if isinstance(one, ast.Starred) else one for one in node.elts]
        told = [one for one in inner if not (isinstance(one, ast.Constant) and one.value is None)]
        return _joined(self.words(one, depth) for one in told)

    def dictionary(self, node: ast.Dict, depth: int) -> Words:
        """Returns the keys of a dictionary."""
        return _joined(self.words(key, depth) for key in node.keys if key is not None)

    def literal(self, node: ast.Subscript, depth: int) -> Words:
        """Returns the words of `Literal[...]`."""
        return self.words(node.slice, depth) if last_name(node.value) == "Literal" else None

    def sum(self, node: ast.BinOp, depth: int) -> Words:
        """Returns the words of two lists."""
        is_sum = isinstance(node.op, ast.Add)
        return _joined(self.words(one, depth) for one in (node.left, node.right)) if is_sum else None

    def call(self, node: ast.Call, depth: int) -> Words:
        """Returns the words of `get_args(NAME)`, of `list(NAME)` and of `NAME.keys()`."""
        name = last_name(node.func)
        if name in ("get_args", "list", "sorted", "tuple", "set") and len(node.args) == 1:
            return self.words(node.args[0], depth)
        return self.words(node.func.value, depth) if name == "keys" and isinstance(node.func, ast.Attribute) else None

    def comprehension(self, node: ast.ListComp, _: int) -> Words:
        """Returns the values of an enumeration."""
        return self._members(last_name(node.generators[0].iter)) if isinstance(node.elt, ast.Attribute) else None

    def dotted(self, node: ast.Attribute, depth: int) -> Words:
        """Returns the words of an attribute of a class."""
        return self.words(self._attribute(last_name(node.value), node.attr), depth)

    def named(self, node: ast.Name, depth: int) -> Words:
        """Returns the words of a constant, or of an enumeration."""
        return self.words(self.constants.get(node.id), depth) or self._members(node.id)

    def _members(self, name: str) -> tuple[str, ...] | None:
        found = self.classes.get(name)
        if found is None or not any("Enum" in last_name(base) for base in found.bases):
            return None
        values = [_assigned(node)[1] for node in found.body]
        return tuple(str(one.value) for one in values if isinstance(one, ast.Constant)) or None

    def _attribute(self, name: str, attribute: str) -> ast.expr | None:
        found = self.classes.get(name)
        for node in found.body if found is not None else []:
            told, value = _assigned(node)
            if told == attribute:
                return value
        return None

    def leaves(self, node: ast.expr, depth: int = 0) -> list[ast.expr]:
        """Returns the members of a union, with aliases and `Annotated` resolved."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return self.leaves(ast.parse(node.value, mode="eval").body, depth + 1)
        if isinstance(node, ast.BinOp):
            return [*self.leaves(node.left, depth + 1), *self.leaves(node.right, depth + 1)]
        if isinstance(node, ast.Subscript):
            name = last_name(node.value)
            inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            if name in ("Optional", "Union"):
                return [leaf for one in inner for leaf in self.leaves(one, depth + 1)]
            if name in ("Annotated", "SkipValidation", "A"):
                return self.leaves(inner[0], depth + 1)
        if isinstance(node, ast.Name) and node.id in self.constants and depth < 8:
            return self.leaves(self.constants[node.id], depth + 1)
        return [node]


_READERS: dict[type[ast.expr], Callable[[Sources, Any, int], Words]] = {
    ast.Constant: Sources.constant,
    ast.List: Sources.sequence,
    ast.Tuple: Sources.sequence,
    ast.Set: Sources.sequence,
    ast.Dict: Sources.dictionary,
    ast.Subscript: Sources.literal,
    ast.BinOp: Sources.sum,
    ast.Call: Sources.call,
    ast.ListComp: Sources.comprehension,
    ast.Attribute: Sources.dotted,
    ast.Name: Sources.named,
}


def _joined(parts: Iterable[Words]) -> Words:
    found = list(parts)
    told = [part for part in found if part is not None]
    return tuple(word for part in told for word in part) if len(told) == len(found) else None


def _assigned(node: ast.stmt) -> tuple[str, ast.expr | None]:
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id, node.value
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return node.target.id, node.value
    return "", None


def last_name(node: ast.expr | None) -> str:
    """Returns the last part of a dotted name."""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript):
        return last_name(node.value)
    return node.id if isinstance(node, ast.Name) else ""


def add_arguments(node: ast.AST) -> Iterator[ast.Call]:
    """Yields the calls of `add_argument` in a tree."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr == "add_argument":
            yield inner


def option_names(call: ast.Call) -> list[str]:
    """Returns the names that a call of `add_argument` gives to an option."""
    values = [one.value for one in call.args if isinstance(one, ast.Constant)]
    return [value for value in values if isinstance(value, str) and value.startswith("-")]
