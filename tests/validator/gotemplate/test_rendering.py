"""Templates are rendered as Helm renders them, and each part of the output has the value that it comes from."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from gotemplate import rendering
from gotemplate.charts import Chart
from gotemplate.functions import FUNCTIONS
from gotemplate.merging import coalesce
from gotemplate.origin import Origin
from gotemplate.origin import Path as Steps
from gotemplate.running import FailedError, Templates
from gotemplate.syntax import Definitions, UnsupportedError, parse
from gotemplate.tracked import Value
from gotemplate.yaml_text import node_origins
from tests.charts import helm
from trainyard.document.reading import read
from trainyard.document.source import Source

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
{{- define "json" }}{{ dict "count" (int .count) "env" .env "none" nil | toJson }}{{ end -}}
{{- define "jsonWords" -}}
{{- if .words -}}{{- toJson .words -}}{{- else -}}[]{{- end -}}
{{- end -}}
"""
# Expressions: Helm and this implementation must give the same text.
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
printf "%c" (add 65 1)
print .Values.name
print .Values.name "/" 1 2 .Values.name
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
semverCompare ">=1.19-0" "v1.33.2"
semverCompare ">=1.19-0, <1.30" "v1.33.2"
semverCompare ">= 1.19 < 1.34" "1.33"
semverCompare "<1.14-0 || >=1.20-0" "1.33.0"
semverCompare "~1.33.1" "1.33.2"
semverCompare "^1.20" "1.33.2"
semverCompare "!=1.33.2" "1.33.2"
tpl "{{ .Values.name }}-{{ .Release.Name }}" .
tpl "plain" .
tpl (toYaml .Values.deep) $
tpl `{{ define "own" }}x{{ end }}{{ include "own" . }}` .
tpl `{{ include "greeting" . }}` (dict "name" "tpl")
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
toJson (unset (dict "a" 1 "b" 2) "b")
toJson (unset (dict "a" 1) "z")
hasKey .Values.env "A"
hasKey .Values.env "Z"
toJson (keys .Values.env | sortAlpha)
toJson (pick .Values.env "A" "Z")
toJson (omit .Values.env "A")
toJson (merge (dict "A" "" "C" 3) .Values.env)
toJson (merge (dict "one" (dict "x" 1)) .Values.deep)
toJson (merge (dict "empty" dict "list" list) (dict "empty" "text" "list" 3))
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
toJson (include "json" .Values | fromJson)
toJson (include "jsonWords" .Values | fromJsonArray)
kindOf (index (list 1 | toJson | fromJsonArray) 0)
toJson (fromJson `{"a": [1, null]}`)
toJson (mergeOverwrite (dict "a" true "b" "x" "c" (list 1)) (dict "a" false "b" "" "c" list))
toJson (mergeOverwrite (dict "d" (dict "e" 1 "f" 2)) (dict "d" (dict "e" 3)))
toJson (mergeOverwrite (dict "a" 1 "b" 2 "c" (dict "d" 1)) (dict "a" nil "c" dict))
dig "one" "two" "none" .Values.deep
dig "one" "three" "none" .Values.deep
toJson (dig "one" "two" "none" (deepCopy .Values.deep))
toJson (values .Values.env | sortAlpha)
toJson (prepend .Values.words "z")
toJson (without .Values.words "b")
toJson (slice (list 1 2 3 4) 1 3)
toJson (slice (list 1 2 3 4) 2)
toJson (initial .Values.words)
toJson (lookup "v1" "Namespace" "" "default")
atoi "42"
atoi "x"
base "files/a.yaml"
regexFind "[0-9]+-[0-9]+$" "a#0-17"
regexFind "^z" "a"
regexReplaceAll "[^a-z]" "a.b/c" "_"
regexReplaceAll "(a)(b)" "abab" "${2}-$1"
toJson (regexSplit "[./]" "10.0.0.0/8" -1)
substr 1 3 "abcd"
substr 1 -1 "abcd"
substr -1 2 "abcd"
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
    others = {"Release": {"Name": helm.RELEASE}, "Chart": {"Name": "cases"}}
    data = Value({"Values": Value(values, Origin((), exact=True)), **{key: Value(one) for key, one in others.items()}})
    found: str = Templates(definitions, FUNCTIONS).render("case", data).data
    return found


@pytest.fixture(scope="module")
def by_helm(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Helm's output for each expression and text, from one rendering."""
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
def test_an_expression_has_the_same_value_as_in_helm(number: int, by_helm: list[str]) -> None:
    assert ours(f"{{{{ {EXPRESSIONS[number]} }}}}") == by_helm[number]


@pytest.mark.parametrize("number", range(len(TEXTS)), ids=TEXTS)
def test_a_text_is_rendered_as_in_helm(number: int, by_helm: list[str]) -> None:
    assert ours(TEXTS[number]) == by_helm[len(EXPRESSIONS) + number]


def test_every_function_is_among_the_cases() -> None:
    words = set(re.findall(r"[A-Za-z]\w*", "\n".join((*EXPRESSIONS, *TEXTS, DEFINED))))
    assert FUNCTIONS.keys() - words - {"toYaml", "fail", "toRawPrettyJson"} == set()


def test_templates_get_the_files_of_the_chart_and_of_the_charts_in_it(tmp_path: Path) -> None:
    template = 'own: {{ .Files.Get "files/a.txt" }}\npart: {{ .Subcharts.part.Files.Get "files/a.txt" }}\n'
    for folder, name, text in ((tmp_path, "cases", "one"), (tmp_path / "charts" / "part", "part", "two")):
        (folder / "files").mkdir(parents=True)
        (folder / "files" / "a.txt").write_text(text)
        (folder / "Chart.yaml").write_text(f"apiVersion: v2\nname: {name}\nversion: 0.1.0\n")
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "both.yaml").write_text(template)

    chart = Chart(tmp_path)
    ((_, ours),) = rendering.render_texts(chart, coalesce(chart, {}), {"Name": helm.RELEASE, "Namespace": "default"})
    by_helm = helm.template("helm", tmp_path)

    assert yaml.safe_load(ours.data) == yaml.safe_load(by_helm.stdout) == {"own": "one", "part": "two"}


def test_a_release_is_rendered_for_a_version_of_kubernetes(tmp_path: Path) -> None:
    (tmp_path / "templates").mkdir()
    (tmp_path / "Chart.yaml").write_text("apiVersion: v2\nname: cases\nversion: 0.1.0\n")
    version = "{{ with .Capabilities.KubeVersion }}{{ .Version }} {{ .Major }} {{ .Minor }} {{ .GitVersion }}{{ end }}"
    (tmp_path / "templates" / "version.yaml").write_text(f"version: {version}\n")
    chart = Chart(tmp_path)
    about = {"Name": helm.RELEASE, "Namespace": "default"}
    ((_, ours),) = rendering.render_texts(chart, coalesce(chart, {}), about, kube_version="1.30")
    assert ours.data == helm.template("helm", tmp_path, "--kube-version", "1.30").stdout.split("\n", 2)[2]


@pytest.mark.parametrize("text", ["{{ getHostByName 1 }}", "{{ end }}", "{{ if .Values.on }}", "{{ $x }}"])
def test_unsupported_syntax_is_an_error(text: str) -> None:
    with pytest.raises(UnsupportedError):
        ours(text)


@pytest.mark.parametrize(
    ("text", "message", "path"),
    [
        ('{{ if gt (int .Values.count) 2 }}{{ fail "too many" }}{{ end }}', "too many", ("count",)),
        ('{{ required "give a name" .Values.empty }}', "give a name", ("empty",)),
        ("{{ .Values.nothing.field }}", "field is read from an empty value", ("nothing",)),
        ('{{ range $k, $v := .Values.env }}{{ if eq $k "NO" }}{{ fail "no" }}{{ end }}{{ end }}', "no", ("env", "NO")),
    ],
)
def test_a_failure_has_the_value_for_which_the_template_failed(text: str, message: str, path: Any) -> None:
    with pytest.raises(FailedError) as failure:
        ours(text)
    assert (failure.value.message, failure.value.origin and failure.value.origin.path) == (message, path)


def test_a_function_with_an_argument_of_a_wrong_type_fails_for_that_value() -> None:
    with pytest.raises(FailedError, match="hasKey got an invalid argument") as failure:
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


def test_each_node_has_the_value_that_it_comes_from() -> None:
    definitions: Definitions = {}
    definitions["case"] = parse(DEFINED + MANIFEST, definitions)
    values = Value(rendering.chart_values(VALUES), Origin((), exact=True))
    text = Templates(definitions, FUNCTIONS).render("case", Value({"Values": values}))
    (document,), _ = read(Source("", text.data))
    assert document.node is not None
    names = list(enumerate(("A", "B", "NO")))
    expected: dict[Steps, Origin] = {
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
    assert node_origins(document.node, text) == expected


README = Path(rendering.__file__).with_name("README.md")


def test_the_example_of_the_readme_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = README.read_text()
    for name, content in re.findall(r"```yaml\n# (\S+)\n(.*?)```", text, re.DOTALL):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    (program,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(compile(program, "README.md", "exec"), {})  # noqa: S102 - the program is the README's


CHART = {
    "Chart.yaml": """\
apiVersion: v2
name: outer
version: 0.1.0
dependencies:
  - {name: common, version: 0.1.0}
  - {name: part, version: 0.1.0, alias: left, condition: left.enabled}
  - {name: part, version: 0.1.0, alias: right, condition: "right.enabled,right.on"}
  - {name: tagged, version: 0.1.0, tags: [extra]}
  - {name: tagged, version: 0.1.0, alias: other, tags: [extra, wanted]}
""",
    "values.yaml": "global: {a: 1}\ntags: {extra: false}\nleft: {size: 3}\nright: {enabled: false}\n",
    "templates/_own.tpl": '{{ define "who" }}outer{{ end }}',
    "templates/all.yaml": """\
kind: Outer
who: {{ include "who" . }}
parts: {{ keys .Subcharts | sortAlpha | toJson }}
left: {{ include "size" .Subcharts.left | quote }}
base: {{ .Template.BasePath }}
""",
    "charts/common/Chart.yaml": "apiVersion: v2\nname: common\nversion: 0.1.0\ntype: library\n",
    "charts/common/templates/_who.tpl": '{{ define "who" }}common{{ end }}',
    "charts/common/templates/_size.tpl": '{{ define "size" }}{{ .Values.size }}{{ end }}',
    "charts/common/templates/never.yaml": "kind: Never\n",
    "charts/part/Chart.yaml": "apiVersion: v2\nname: part\nversion: 0.1.0\n",
    "charts/part/values.yaml": "enabled: true\nsize: 1\nmode: calm\n",
    "charts/part/templates/part.yaml": """\
kind: Part
name: {{ .Chart.Name }}
values: {{ toJson .Values }}
base: {{ .Template.BasePath }}
files: {{ range $path, $_ := .Files.Glob "files/*.txt" }}{{ $path }}{{ end }}
text: {{ .Files.Get "files/a.txt" | quote }}
who: {{ include "who" . }}
""",
    "charts/part/files/a.txt": "text",
    "charts/tagged/Chart.yaml": "apiVersion: v2\nname: tagged\nversion: 0.1.0\n",
    "charts/tagged/templates/tagged.yaml": "kind: Tagged\nname: {{ .Chart.Name }}\n",
}
SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"left": {"enabled": True, "mode": None, "global": {"a": 2, "b": 3}}},
    {"left": {"size": None}, "right": {"enabled": None}},
    {"right": {"enabled": True, "size": 7}, "tags": {"wanted": True}},
    {"tags": {"extra": None}, "global": {"c": {"d": 1}}},
)


@pytest.mark.parametrize("own", SETTINGS, ids=json.dumps)
def test_charts_in_charts_are_rendered_as_by_helm(own: dict[str, Any], tmp_path: Path) -> None:
    for name, text in CHART.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    theirs = helm.template("helm", tmp_path, values=own)
    assert theirs.returncode == 0, theirs.stderr
    chart = Chart(tmp_path)
    made = rendering.render_chart(chart, coalesce(chart, own), {"Name": helm.RELEASE, "Namespace": "default"})
    assert [one.tree for one in made] == [tree for tree in yaml.safe_load_all(theirs.stdout) if tree]


def test_a_value_of_a_part_has_its_place_in_the_values_of_the_whole(tmp_path: Path) -> None:
    for name, text in CHART.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    chart = Chart(tmp_path)
    made = rendering.render_chart(chart, coalesce(chart, {}), {"Name": "run", "Namespace": "default"})
    outer = next(one for one in made if one.tree["kind"] == "Outer")
    assert outer.origins["left",] == Origin(("left", "size"), exact=True)
