"""Hypothesis strategies for corrupted files: the corpus, the rules' cases and our charts' values, randomly changed."""

from __future__ import annotations

import copy
import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from hypothesis import strategies as st

from tests.validator.rules import cases
from trainyard.document import reading
from trainyard.document.source import Source
from trainyard.engine import registry

CORPUS = Path(__file__).parents[1] / "rules" / "corpus" / "valid"
CHARTS = Path(__file__).parents[3] / "charts"

_DEEP: dict[str, Any] = functools.reduce(lambda inner, _: {"a": [inner]}, range(60), {})
GARBAGE: tuple[Any, ...] = (
    None, True, False, 0, -1, 7, 3.5, float("inf"), float("nan"), 2**63, 10**400,
    "", " ", "0", "-1", "1.5", "²", "٣", "9" * 5000, "0x", "1e999", "true", "null", "auto", "é", "\x00", "\u2028", "\n",
    "=", "^", ":", "/", "%", ",", "-", "--", "$", "$(", "${", "$()", "`", "'", '"', "\\", "<<", "<<EOF\n", "#", "&&",
    "|", "{", "[", "{}", "[]", '{"a": ', '[[{"subnet": null}]]', "a: b: c", "*x", "&x", "10.0.0.0/8", "::/129",
    "1" * 70, [], [None], [[]], [{}], ["", 0, None], {}, {"": None}, {"name": None}, {"name": []}, {"0": 0}, _DEEP,
)  # fmt: skip


class _Dumper(yaml.CSafeDumper):
    """Writes multi-line texts as block scalars, because these have places of their own."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True


_Dumper.add_representer(
    str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, "|" if "\n" in text else None)
)


@functools.cache
def _originals() -> tuple[tuple[Any, ...], ...]:
    """Return the trees of each file."""
    paths = sorted((*CORPUS.glob("*.yaml"), *registry.folder().glob("*/cases/*.bad.yaml")))
    texts = [cases.load(path).text for path in paths]
    texts += [path.read_text(encoding="utf-8") for path in sorted(CHARTS.glob("*/ci/*-values.yaml"))]
    return tuple(tuple(document.tree for document in reading.read(Source("", text))[0]) for text in texts)


@st.composite
def texts(draw: st.DrawFn, original: tuple[Any, ...] | None = None) -> str:
    """Draw the text of a corrupted file: of the file with these trees, or of any."""
    trees: list[Any] = copy.deepcopy(list(original or draw(st.sampled_from(_originals()))))
    for _ in range(draw(st.integers(1, 6))):
        nodes = list(_nodes(trees))
        if nodes:
            parent, key = nodes[draw(st.integers(0, len(nodes) - 1))]
            _corrupt(draw, parent, key, nodes)
    return yaml.dump_all(trees, Dumper=_Dumper, allow_unicode=True, sort_keys=False)


def _nodes(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every node of a tree, as its parent and the key or index in it."""
    children = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, child in children:
        yield tree, key
        yield from _nodes(child)


def _corrupt(draw: st.DrawFn, parent: Any, key: Any, nodes: list[tuple[Any, Any]]) -> None:
    match draw(st.integers(0, 6)):
        case 0 | 1:
            parent[key] = copy.deepcopy(draw(st.sampled_from(GARBAGE)))
        case 2:
            del parent[key]
        case 3 if isinstance(parent, list):
            parent.append(copy.deepcopy(parent[key]))
        case 3:
            parent[str(draw(st.sampled_from(GARBAGE[11:])))] = parent[key]
        case 4:
            other, there = nodes[draw(st.integers(0, len(nodes) - 1))]
            parent[key] = copy.deepcopy(other[there])
        case 5:
            parent[key] = draw(st.sampled_from(([parent[key]], {"name": parent[key]}, str(parent[key]))))
        case _:
            written = str(parent[key])
            start = draw(st.integers(0, len(written)))
            end = draw(st.integers(start, len(written)))
            parent[key] = written[:start] + str(draw(st.sampled_from(GARBAGE))) + written[end:]
