"""A text in values stays one text: no character in it changes the structure of the rendered objects."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from gotemplate.errors import UnsupportedError
from gotemplate.functions import FUNCTIONS
from gotemplate.tracked import Value
from gotemplate.yaml_reader import BrokenError, load_documents
from tests.charts.helm import CHARTS, SCENARIOS
from tests.charts.test_values import (
    ABOUT,
    LIGHT,
    Keys,
    alternatives,
    depth_in,
    leaves,
    merged,
    nested,
    schema_of,
    texts,
)

# With a plain word in it, each means something in YAML where it is not quoted; the last ones are of another type.
NASTY = (
    *("{}: b", "{} #b", "{}\nb: c", '"{}', "1e3"),
    *("{},b", "{}]", "'{}", "*{}", "{{{{ {} }}}}", "{}\\", "{}\u2028b: c", "null", "true"),
)
# With these there are 40.
MORE = (
    *("- {}", "&{}", "!{}", "|\n {}", ">\n{}", "%{}", "@{}", "`{}", "{}:", "#{}", "~", "{}\t: x", "{}\r\nb: c"),
    *(
        "---\n{}",
        "{}\n---\nb: c",
        "...",
        "0x10",
        "010",
        ".inf",
        "yes",
        "off",
        "2001-01-01",
        "{{b: {}}}",
        "[{}]",
        "<<",
        "=",
    ),
)
# A text in it is the YAML of objects.
YAML = ("extraObjects",)
# Most texts of training-job have a format, and rendering it takes ten times as long as rendering another chart.
FEWER = {"training-job": ("{}: b", "{}\nb: c", "true")}
Put = Callable[[str], Any]


def holders(value: Any) -> Iterator[tuple[str, Put]]:
    """Yield the text in the value of a leaf, and a function that puts another text in its place."""
    if isinstance(value, str):
        yield value, lambda text: text
    elif isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        yield value[0], lambda text: [text]
    elif isinstance(value, dict) and [type(item) for item in value.values()] == [str]:
        ((key, item),) = value.items()
        yield item, lambda text: {key: text}


def shape(tree: Any) -> Any:
    """Return a tree with types in place of its scalars."""
    if isinstance(tree, dict):
        return {key: shape(item) for key, item in tree.items()}
    if isinstance(tree, list):
        return [shape(item) for item in tree]
    return type(tree).__name__


@functools.lru_cache(maxsize=16)
def shapes(text: str) -> Any:
    """Return the shapes of all documents of a text; for broken YAML the reason."""
    try:
        return [shape(tree) for tree, _ in load_documents(text)]
    except BrokenError as error:
        return error.message


def rendered(chart: str, scenario: str | None, path: Keys, value: Any) -> list[str]:
    """Return the text of each template, none if the chart refuses the value."""
    try:
        settings = merged(LIGHT.get(chart, {}), nested(path, value))
        return [text.data for text in texts(chart, scenario, settings, traced=False)]
    except UnsupportedError:
        # The value is a template, and Helm does not know the function either.
        return []


def faults(chart: str, scenario: str | None, path: Keys, schema: dict[str, Any], words: tuple[str, ...]) -> list[str]:
    """Return the texts at a path that change the structure of an object."""
    holding = (holder for value in alternatives(schema) for holder in holders(value))
    for plain, put in itertools.islice(holding, 2):
        usual = rendered(chart, scenario, path, put(plain))
        if not any(plain in text for text in usual):
            continue
        found = []
        for word in (nasty.format(plain) for nasty in words):
            made = rendered(chart, scenario, path, put(word))
            changed = [(one, other) for one, other in zip(usual, made, strict=False) if one != other]
            if made and (len(made) != len(usual) or any(shapes(one) != shapes(other) for one, other in changed)):
                found.append(f"{'.'.join(path)}: {word!r}")
        return found
    return []


def all_faults(chart: str, words: tuple[str, ...]) -> list[str]:
    """Return the values of a chart, each with a text that changes the structure of an object."""
    read: dict[str | None, set[Any]] = {scenario: set() for name, scenario in SCENARIOS if name == chart}
    for scenario, paths in read.items():
        assert texts(chart, scenario, LIGHT.get(chart, {}), paths, traced=False)
    found = []
    for path, schema in leaves(schema_of(chart)):
        reading = [scenario for scenario, paths in read.items() if path in paths]
        if reading and path != YAML:
            scenario = max(reading, key=lambda name: depth_in(chart, name, path))
            found += faults(chart, scenario, path, schema, words)
    return found


@pytest.fixture(autouse=True)
def constant_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """A random key would change with any value."""
    monkeypatch.setitem(FUNCTIONS, "randAlphaNum", lambda arguments: Value("x" * int(arguments[0].data)))


@pytest.mark.parametrize("chart", CHARTS)
def test_the_names_of_release_and_namespace_stay_texts(chart: str) -> None:
    # YAML reads neither as a text, and Helm and Kubernetes accept both.
    nasty = {"Name": "true", "Namespace": "1e3"}
    changed = []
    for scenario in (scenario for name, scenario in SCENARIOS if name == chart):
        usual, made = (
            [shapes(text.data) for text in texts(chart, scenario, LIGHT.get(chart, {}), traced=False, about=about)]
            for about in (ABOUT, nasty)
        )
        if usual != made:
            changed.append(scenario)
    assert changed == []


@pytest.mark.timeout(1800)  # as the other test of every value
@pytest.mark.parametrize("chart", CHARTS)
def test_no_text_changes_the_structure_of_an_object(chart: str) -> None:
    assert all_faults(chart, FEWER.get(chart, NASTY)) == []


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("chart", CHARTS)
def test_none_of_forty_texts_changes_the_structure_of_an_object(chart: str) -> None:
    assert all_faults(chart, (*NASTY, *MORE)) == []
