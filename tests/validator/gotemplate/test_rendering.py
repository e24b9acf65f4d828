"""Templates are read as Helm reads them, and each part of what they make knows the value that it comes from."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml

from tests.charts import helm
from validator.reading import read
from validator.roads.origins import Origin
from validator.roads.templates import rendering
from validator.roads.templates.functions import FUNCTIONS
from validator.roads.templates.running import FailedError, Templates, chart_data
from validator.roads.templates.syntax import Definitions, UnsupportedError, parse
from validator.roads.templates.yaml_text import origins
from validator.source import Path, Source

VALUES: dict[str, Any] = {
    "name": "run",
    "empty": "",
    "nothing": None,
    "count": 3,
    "large": 12_345_678,
    "ratio": 0.25,
    "on": True,
    "odd": 'a "b"\n$HOME\t<&>',
    "words": ["b", "a", "b"],
    "env": {"B": "2", "A": 1, "NO": False},
    "deep": {"one": {"two": ["x"]}, "none": {}},
    "size": "64Gi",
}
DEFINED = """{{- define "greeting" -}}
{{- $name := .name | default "you" -}}
hello {{ $name }}
{{- end -}}
{{- define "tree" }}
b: {{ .count | int64 }}
a: [x, "2"]
{{- end -}}
"""
# Expressions: Helm and this implementation must come to the same text.
EXPRESSIONS = """
.Values.name
.Values.large
.Values.ratio
int .Values.large
int64 "42"
int "x"
float64 .Values.count
add 1 2 3
add1 .Values.count
sub 5 .Values.count
mul 2 3 (int .Values.count)
div -7 2
mod -7 2
max 1 .Values.count 2
min 1 .Values.count 2
eq .Values.name "run"
eq .Values.name "x" "run"
ne .Values.count 3.0
lt 1 2
le 2 2
gt (len .Values.words) 5
ge 2 3
and .Values.on .Values.empty
and .Values.on .Values.name
or .Values.empty .Values.name
not .Values.empty
empty .Values.deep.none
default "d" .Values.empty
default "d" .Values.name
coalesce .Values.empty .Values.nothing "c"
ternary "yes" "no" .Values.on
.Values.on | ternary "yes" "no"
kindIs "string" .Values.name
kindIs "invalid" .Values.nothing
kindIs "float64" .Values.count
kindOf .Values.env
required "name it" .Values.name
toString .Values.count
toString 7
toString (mul 1000000 2)
toString 1000000.0
quote .Values.odd
quote .Values.count .Values.name
squote .Values.name
printf "%s-%d-%q-%v" .Values.name 3 "x" true
printf "%05d%%" 42
print .Values.name
printf "%v" .Values.deep
printf "%v" (list 1 true 0.5)
nindent 2 "a\\nb"
indent 2 "a\\nb"
trim "  x "
trimSuffix "Gi" .Values.size
trimPrefix "64" .Values.size
trunc 2 .Values.size
trunc -2 .Values.size
lower "ABC"
upper .Values.name
replace "u" "oo" .Values.name
contains "4G" .Values.size
hasPrefix "6" .Values.size
hasSuffix "6" .Values.size
regexMatch "^[0-9]+(Gi|Mi)$" .Values.size
sha256sum .Values.name
b64enc .Values.name
toJson .Values.env
toJson .Values.odd
toRawJson .Values.odd
toPrettyJson .Values.env
toJson (list 1 "a" .Values.on)
toJson (dict "b" 1 "a" .Values.words)
get (dict "a" "x") "a"
get (dict "a" "x") "b"
index .Values.words 1
index .Values.deep "one" "two" 0
toJson (set (dict "a" 1) "b" 2)
hasKey .Values.env "A"
hasKey .Values.env "Z"
toJson (keys .Values.env | sortAlpha)
toJson (pick .Values.env "A" "Z")
toJson (omit .Values.env "A")
toJson (merge (dict "A" "" "C" 3) .Values.env)
toJson (merge (dict "one" (dict "x" 1)) .Values.deep)
toJson (deepCopy .Values.deep)
toJson (concat .Values.words (list 1))
toJson (append .Values.words "z")
has "a" .Values.words
has "z" .Values.words
toJson (uniq .Values.words)
toJson (sortAlpha .Values.words)
toJson (until 3)
toJson (splitList "-" "a-b-c")
join "," .Values.words
len .Values.env
len "é"
first .Values.words
last .Values.words
toJson (rest .Values.words)
include "greeting" .Values
include "greeting" (dict)
toJson (include "tree" .Values | fromYaml)
(.Values.deep).one.two | first
$.Values.name
.Release.Name
.Chart.Name
""".strip().split("\n")
# Whole texts, for the syntax around expressions.
TEXTS = (
    'a {{- " b " -}}  c',
    "x\n  {{- /* a comment */}}\ny {{/* another */ -}}\n z",
    "{{ if .Values.on }}yes{{ else }}no{{ end }}",
    "{{ if .Values.empty }}yes{{ else if .Values.name }}name{{ else }}no{{ end }}",
    "{{ with .Values.deep }}{{ .one.two | toJson }}{{ $.Values.name }}{{ else }}none{{ end }}",
    "{{ with $x := .Values.count }}{{ $x }}{{ . }}{{ end }}",
    "{{ with .Values.deep.none }}some{{ else with .Values.name }}{{ . }}{{ end }}",
    "{{ range .Values.words }}[{{ . }}]{{ end }}",
    "{{ range $i, $word := .Values.words }}{{ $i }}{{ $word }}{{ end }}",
    "{{ range $key, $value := .Values.env }}{{ $key }}={{ $value }};{{ end }}",
    "{{ range .Values.deep.none }}x{{ else }}nothing{{ end }}",
    "{{ $x := 1 }}{{ if true }}{{ $x = 2 }}{{ $y := 3 }}{{ $y }}{{ end }}{{ $x }}",
    '{{ template "greeting" .Values }}!',
    '{{ `raw "text"` }}{{ "tab\\t" }}',
)


def ours(text: str) -> str:
    definitions: Definitions = {}
    definitions["case"] = parse(DEFINED + text, definitions)
    values = rendering.chart_values(VALUES)
    data = chart_data(values, Release={"Name": helm.RELEASE}, Chart={"Name": "cases"})
    found: str = Templates(definitions, FUNCTIONS).render("case", data).data
    return found


@pytest.fixture(scope="module")
def by_helm(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What Helm makes of each expression and text, from one render."""
    chart = tmp_path_factory.mktemp("charts") / "cases"
    (chart / "templates").mkdir(parents=True)
    (chart / "Chart.yaml").write_text("apiVersion: v2\nname: cases\nversion: 0.1.0\n")
    (chart / "values.yaml").write_text(json.dumps(VALUES))
    (chart / "templates" / "_defined.tpl").write_text(DEFINED)
    lines = []
    for number, text in enumerate((*(f"{{{{ {expression} }}}}" for expression in EXPRESSIONS), *TEXTS)):
        (chart / "templates" / f"_case-{number}.tpl").write_text(f'{{{{ define "case-{number}" }}}}{text}{{{{ end }}}}')
        lines.append(f'- {{{{ include "case-{number}" . | toJson }}}}')
    (chart / "templates" / "cases.yaml").write_text("kind: Cases\ncases:\n" + "\n".join(lines))
    result = helm.template("helm", chart)
    assert result.returncode == 0, result.stderr
    cases: list[str] = yaml.safe_load(result.stdout)["cases"]
    return cases


@pytest.mark.parametrize("number", range(len(EXPRESSIONS)), ids=EXPRESSIONS)
def test_an_expression_has_the_value_that_it_has_in_helm(number: int, by_helm: list[str]) -> None:
    assert ours(f"{{{{ {EXPRESSIONS[number]} }}}}") == by_helm[number]


@pytest.mark.parametrize("number", range(len(TEXTS)), ids=TEXTS)
def test_a_text_becomes_what_it_becomes_in_helm(number: int, by_helm: list[str]) -> None:
    assert ours(TEXTS[number]) == by_helm[len(EXPRESSIONS) + number]


def test_every_function_is_among_the_cases() -> None:
    words = set(re.findall(r"[A-Za-z]\w*", "\n".join((*EXPRESSIONS, *TEXTS, DEFINED))))
    assert FUNCTIONS.keys() - words - {"toYaml", "fail", "toRawPrettyJson"} == set()


@pytest.mark.parametrize("text", ["{{ lookup 1 }}", "{{ end }}", "{{ if .Values.on }}", "{{ $x }}"])
def test_what_is_not_understood_is_said(text: str) -> None:
    with pytest.raises(UnsupportedError):
        ours(text)


@pytest.mark.parametrize(
    ("text", "message", "path"),
    [
        ('{{ if gt (int .Values.count) 2 }}{{ fail "too many" }}{{ end }}', "too many", ("count",)),
        ('{{ required "give a name" .Values.empty }}', "give a name", ("empty",)),
        ("{{ .Values.nothing.field }}", "field is asked of what is empty", ("nothing",)),
        ('{{ range $k, $v := .Values.env }}{{ if eq $k "NO" }}{{ fail "no" }}{{ end }}{{ end }}', "no", ("env", "NO")),
    ],
)
def test_a_failure_names_the_value_for_which_the_template_failed(text: str, message: str, path: Any) -> None:
    with pytest.raises(FailedError) as failure:
        ours(text)
    assert (failure.value.message, failure.value.origin and failure.value.origin.path) == (message, path)


def test_a_function_that_is_given_what_it_does_not_take_fails_for_that_value() -> None:
    with pytest.raises(FailedError, match="hasKey is given what it does not take") as failure:
        ours('{{ hasKey .Values.name "x" }}')
    assert failure.value.origin == Origin(("name",))


MANIFEST = """
kind: {{ .Values.name | quote }}
exact: {{ toYaml .Values.env | nindent 2 }}
made: x-{{ .Values.name }}
counted: {{ mul .Values.count 2 }}
{{- if .Values.on }}
shown: {there: "{{ .Values.size }}"}
{{- end }}
list:
  {{- range $name, $value := .Values.env }}
  - name: {{ $name }}
    value: {{ $value | quote }}
  {{- end }}
{{- with include "tree" .Values | fromYaml }}
copied: {{ .b }}
{{- end }}
merged:
  {{- merge (dict "C" "own") .Values.env | toYaml | nindent 2 }}
"""


def test_each_node_knows_the_value_that_it_comes_from() -> None:
    definitions: Definitions = {}
    definitions["case"] = parse(DEFINED + MANIFEST, definitions)
    text = Templates(definitions, FUNCTIONS).render("case", chart_data(rendering.chart_values(VALUES)))
    (document,), _ = read(Source("", text.data))
    assert document.node is not None
    names = list(enumerate(("A", "B", "NO")))
    expected: dict[Path, Origin] = {
        ("kind",): Origin(("name",), exact=True),
        ("exact",): Origin(("env",), exact=True),
        ("made",): Origin(("name",)),
        ("counted",): Origin(("count",)),
        ("shown",): Origin(("on",)),
        ("shown", "there"): Origin(("size",), exact=True),
        ("list",): Origin(("env",), named=True),
        **{("list", n): Origin(("env", name), whole=True) for n, name in names},
        **{("list", n, "name"): Origin(("env", name), exact=True, on_key=True) for n, name in names},
        **{("list", n, "value"): Origin(("env", name), exact=True) for n, name in names},
        ("copied",): Origin(("count",), exact=True),
        **{("merged", name): Origin(("env", name), exact=True) for _, name in names},
    }
    assert origins(document.node, text) == expected
