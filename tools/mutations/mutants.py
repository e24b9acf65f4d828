"""Draws one-line changes of modules, with the operators of Cosmic Ray.

Changes that cannot change what a program does are left out: those of a type annotation, of `if TYPE_CHECKING`, of the
size of a cache, and of the memory layout of a class (`slots`). So are changes after which the module is no Python,
which any test would find. Every other part of a module is changed.
"""

from __future__ import annotations

import ast
import difflib
import itertools
import random
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import cosmic_ray.plugins
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code

from tools.mutations.targets import Target

# No test can find these: another operator in the annotation `A | B`, a decorator such as `cache` that is gone, and `is`
# in place of `==` between constants, which Python stores once.
WITHOUT_EFFECT = re.compile(
    r"core/(RemoveDecorator|ReplaceBinaryOperator_BitOr_.*"
    r"|ReplaceComparisonOperator_(Is|IsNot)_(?!Is).*|ReplaceComparisonOperator_(?!Is).*_Is(Not)?)"
)


class Mutant(NamedTuple):
    """A change of a module; `code` is the whole text after it."""

    target: Target
    module: Path
    code: str

    def difference(self) -> str:
        """Returns the change as lines of a unified difference."""
        before = self.module.read_text(encoding="utf-8").splitlines()
        lines = list(difflib.unified_diff(before, self.code.splitlines(), lineterm="", n=0))[2:]
        return "\n".join((str(self.module), *lines))


def draw(targets: list[Target], count: int, seed: int) -> Iterator[Mutant]:
    """Yields this many changes, each at a place of its own, in equal shares for the targets."""
    source = random.Random(seed)  # noqa: S311 - no secret
    operators = _operators()
    for index, target in enumerate(targets):
        places = [(module, *place) for module in target.modules for place in _places(module, operators)]
        share = count // len(targets) + (index < count % len(targets))
        made = (_changed(target, place, operators, source) for place in source.sample(places, len(places)))
        yield from itertools.islice((mutant for mutant in made if mutant is not None), share)


def _changed(target: Target, place: Any, operators: dict[str, Any], source: random.Random) -> Mutant | None:
    """Returns a change at a place, None if it has no effect or if the module is no Python after it."""
    module, _, changes = place
    name, occurrence = source.choice(changes)
    before = module.read_text(encoding="utf-8")
    try:
        code = mutate_code(before, operators[name], occurrence)
        return Mutant(target, module, code) if _effect(code) != _effect(before) else None
    # Cosmic Ray cannot replace a dotted name, such as `yaml.YAMLError`, among several exceptions.
    except (SyntaxError, AttributeError):
        return None


def _effect(code: str) -> str:
    """Returns the tree of a module without the parts that have no effect when it runs."""
    return ast.dump(_Effect().visit(ast.parse(code)))


class _Effect(ast.NodeTransformer):
    """Removes what a type checker reads, sizes of caches and slots. Annotations are not evaluated in our modules."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = ast.Constant(None)
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_If(self, node: ast.If) -> Any:
        names = {found.id for found in ast.walk(node.test) if isinstance(found, ast.Name)}
        return node.orelse if names == {"TYPE_CHECKING"} else self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> ast.AST | None:
        return self.generic_visit(node) if node.arg not in ("maxsize", "slots") else None


def _operators() -> dict[str, Any]:
    found = {name: cosmic_ray.plugins.get_operator(name) for name in sorted(cosmic_ray.plugins.operator_names())}
    return {
        name: operator()
        for name, operator in found.items()
        if not operator.arguments() and not WITHOUT_EFFECT.fullmatch(name)
    }


def _places(module: Path, operators: dict[str, Any]) -> list[tuple[Any, list[tuple[str, int]]]]:
    """Returns the places in a module that operators change, each with the changes as operator and occurrence."""
    tree = get_ast(module.read_text(encoding="utf-8"))
    places: dict[Any, list[tuple[str, int]]] = defaultdict(list)
    for name, operator in operators.items():
        found = (place for node in ast_nodes(tree) for place in operator.mutation_positions(node))
        for occurrence, place in enumerate(found):
            places[place].append((name, occurrence))
    return sorted(places.items())
