"""The result of every function knows the value that it is, or that it comes from."""

from __future__ import annotations

import pytest

from gotemplate import rendering, yaml_reader
from gotemplate.functions import FUNCTIONS
from gotemplate.origin import Origin
from gotemplate.origin import Path as Steps
from gotemplate.running import Templates
from gotemplate.syntax import Definitions, parse
from gotemplate.tracked import Value, derived_origin
from gotemplate.yaml_text import node_origins
from tests.validator.gotemplate.test_rendering import DEFINED, VALUES

# `is`: the text is a copy of the value. `from`: it is derived from it. `key`: it is a copy of the key.
ORIGINS = """
.Values.name -> is name
.Values.count -> is count
quote .Values.name -> is name
squote .Values.name -> is name
b64enc (quote .Values.name .Values.size) -> from size
quote .Values.name .Values.size | len -> from size
quote .Values.name "x" | len -> from name
toString .Values.count -> is count
int .Values.count -> is count
float64 .Values.count -> is count
add1 .Values.count -> from count
add .Values.count 1 -> from count
add 1 .Values.count .Values.large -> from count
upper .Values.name -> from name
trim .Values.name -> is name
replace "u" "o" .Values.name -> is name
trunc 2 .Values.name -> from name
trimSuffix .Values.size "64Gi" -> none
print .Values.name -> is name
print .Values.count -> is count
print .Values.name .Values.size -> from size
print "a" 1 -> none
printf "%s-%s" .Values.name .Values.size -> from size
printf "%s" "a" -> none
default "d" .Values.empty -> from empty
default .Values.size .Values.empty -> is size
default "d" .Values.name -> is name
coalesce .Values.empty .Values.name -> is name
ternary "yes" "no" .Values.on -> from on
ternary .Values.name "no" .Values.on -> is name
eq .Values.name "run" -> from name
eq "run" .Values.name -> from name
not .Values.on -> from on
lt 1.0 .Values.count -> from count
kindOf .Values.name -> from name
kindIs "string" .Values.name -> from name
len .Values.words -> from words
len "abc" -> none
join "," .Values.words -> from words.0
join .Values.name (list "a" "b") -> none
first .Values.words -> is words.0
last .Values.words -> is words.2
index .Values.words 1 -> is words.1
index .Values.deep "one" "two" 0 -> is deep.one.two.0
get .Values.env "B" -> is env.B
get .Values.env "Z" | default "z" -> from env.Z
hasKey .Values.env "B" -> from env.B
hasKey .Values.env "Z" -> from env.Z
has "a" .Values.words -> from words
keys .Values.env | sortAlpha | first -> key env.A
keys (dict "k" .Values.name) | first -> from name
values .Values.env | last -> is env.NO
splitList "-" "a-b" | first -> none
splitList "u" .Values.name | first -> from name
regexSplit "u" .Values.name -1 | first -> from name
until (int .Values.count) | last -> from count
sortAlpha .Values.words | first -> is words.1
uniq .Values.words | last -> is words.1
append .Values.words .Values.name | last -> is name
prepend .Values.words .Values.name | first -> is name
concat .Values.words | first -> is words.0
concat .Values.words (list "x") | first -> is words.0
concat .Values.words | len -> from words
concat .Values.words (list "x") | len -> none
without .Values.words "b" | first -> is words.1
slice .Values.words 1 2 | first -> is words.1
rest .Values.words | first -> is words.1
initial .Values.words | last -> is words.1
dig "one" "two" "none" .Values.deep | first -> is deep.one.two.0
dig "one" "three" "none" .Values.deep -> none
pick .Values.env "B" | values | first -> is env.B
omit .Values.env "A" "NO" | values | first -> is env.B
(merge (dict "A" "") .Values.env).A -> is env.A
(mergeOverwrite (dict "A" 1) .Values.env).A -> is env.A
(mergeOverwrite (deepCopy .Values.env) (dict "A" "x")).B -> is env.B
(deepCopy .Values.deep).one.two | first -> is deep.one.two.0
(set (dict) "a" .Values.name).a -> is name
dict "a" .Values.name | toJson -> from name
.Values.env | toJson -> is env
.Values.words | toJson -> is words
.Values.name | toJson -> is name
(.Values.env | toJson | fromJson).B -> is env.B
(include "json" .Values | fromJson).count -> is count
(include "json" .Values | fromJson).env.B -> is env.B
(include "tree" .Values | fromYaml).b -> is count
(include "tree" .Values | trim | fromYaml).b -> is count
include "jsonWords" .Values | fromJsonArray | first -> is words.0
toYaml .Values.env | nindent 2 -> is env
toYaml .Values.words | nindent 2 -> is words
toYaml .Values.name -> is name
tpl "{{ .Values.name }}" . -> is name
tpl .Values.name . -> is name
tpl "  {{ .Values.name }} " . | trim -> is name
tpl (printf "{{ %q }}" .Values.name) . -> from name
b64enc .Values.name -> from name
regexReplaceAll "u" .Values.name "x" -> from name
and .Values.on .Values.name -> is name
or .Values.empty .Values.name -> is name
or .Values.empty "x" -> none
required "x" .Values.name -> is name
substr 0 1 .Values.name -> from name
.Values.odd | quote -> is odd
include "greeting" .Values -> from name
lower (printf "%s" .Values.name) -> from name
""".strip().split("\n")


def origins_of(text: str) -> dict[Steps, Origin]:
    """Return the origins of the nodes of a rendered text."""
    definitions: Definitions = {}
    definitions["case"] = parse(DEFINED + text, definitions)
    values = Value(rendering.chart_values(VALUES), Origin((), exact=True))
    rendered = Templates(definitions, FUNCTIONS).render("case", Value({"Values": values}))
    ((_, root),) = yaml_reader.load_documents(rendered.data)
    return node_origins(root, rendered)


def described(origin: Origin | None) -> str:
    """Return an origin as a row has it."""
    if origin is None:
        return "none"
    kind = "from" if not origin.exact else "key" if origin.on_key else "is"
    assert not origin.whole
    assert not origin.named
    return f"{kind} {'.'.join(map(str, origin.path))}"


@pytest.mark.parametrize("row", ORIGINS)
def test_a_result_knows_its_value(row: str) -> None:
    expression, _, expected = row.rpartition(" -> ")
    found = origins_of(f"x: {{{{ {expression} }}}}\n")
    assert found.keys() <= {("x",)}
    assert described(found.get(("x",))) == expected


@pytest.mark.parametrize(
    "origin",
    [
        Origin(("a", 1), exact=True),
        Origin(("a", 1), on_key=True),
        Origin(("a", 1), whole=True),
        Origin(("a", 1), named=True),
    ],
)
def test_what_is_derived_from_a_value_is_neither_a_copy_nor_a_part_of_it(origin: Origin) -> None:
    assert derived_origin(origin) == Origin(("a", 1))
    assert derived_origin(None) is None


def test_items_of_a_loop_over_a_changed_mapping_are_not_there_because_of_one_value() -> None:
    found = origins_of('x:\n{{ range $k, $v := merge .Values.env (dict "C" 1) }}- {{ $v }}\n{{ end }}')
    assert not any(origin.whole or origin.named for origin in found.values())
    assert found["x", 0] == Origin(("env", "A"), exact=True)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("x:\n{{ range .Values.words }}- {{ . }}\n{{ end }}- own\n", ("words",)),
        ("x:\n- a\n{{ if .Values.empty }}- b\n{{ end }}- c\n", ("empty",)),
        ("x:\n- a\n{{ if .Values.on }}- b\n{{ end }}- c\n", None),
        ("x:\n- {{ .Values.name }}\n- c\n", None),
        ('x: {{ tpl (printf "{a: {{ %q }}}" .Values.name) . }}\n', ("name",)),
    ],
)
def test_a_collection_that_values_complete_is_derived_from_them(text: str, path: Steps | None) -> None:
    found = origins_of(text).get(("x",))
    assert found == (Origin(path) if path is not None else None)


def test_a_mapping_that_a_template_built_has_the_origins_of_its_parts() -> None:
    found = origins_of('x: {{ toYaml (dict "a" .Values.name "b" (list .Values.size "own")) | nindent 2 }}\n')
    assert {path: described(origin) for path, origin in found.items()} == {
        ("x", "a"): "is name",
        ("x", "b", 0): "is size",
    }


def test_a_mapping_that_a_template_changed_is_no_copy() -> None:
    found = origins_of('x: {{ toYaml (set (deepCopy .Values.env) "A" "own") | nindent 2 }}\n')
    assert {path: described(origin) for path, origin in found.items()} == {
        ("x",): "from env",
        ("x", "B"): "is env.B",
        ("x", "NO"): "is env.NO",
    }


def test_all_that_a_condition_adds_has_its_value() -> None:
    found = origins_of("a: 1\n{{ if .Values.on }}\nb: 2\nc: [3]\n{{ end }}\n")
    assert {path: described(origin) for path, origin in found.items()} == {("b",): "from on", ("c",): "from on"}


@pytest.mark.parametrize("kind", ["exact", "on_key", "whole", "named"])
def test_what_is_derived_from_a_value_is_neither_a_copy_nor_all_of_it(kind: str) -> None:
    assert derived_origin(Origin(("env", "A"), **{kind: True})) == Origin(("env", "A"))
