"""Templates are rendered as Helm renders them, and each part of the output has the value that it comes from."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from gotemplate import rendering, yaml_reader
from gotemplate.charts import Chart
from gotemplate.errors import FailedError, UnsupportedError
from gotemplate.functions import FUNCTIONS
from gotemplate.merging import coalesce
from gotemplate.origin import Origin
from gotemplate.origin import Path as Steps
from gotemplate.running import Templates
from gotemplate.syntax import Definitions, parse
from gotemplate.tracked import Value
from gotemplate.yaml_text import node_origins
from tests.charts import helm
from trainyard.document.reading import read
from trainyard.document.source import Source

FOLDER = Path(__file__).parent
BROKEN = {
    "a value behind a list": ("a: 1\nb: 2\nc: [3]]\n", 3),
    "too many open brackets": ("a: 1\nb: 2\nc: " + "[" * 2000 + "]" * 2000, 3),
    "too many nested lists in a line": ("a: 1\nb: 2\nc:\n" + "- " * 200, 4),
}
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
EXPRESSIONS = (FOLDER / "expressions.txt").read_text(encoding="utf-8").splitlines()
# Whole texts, for the syntax around expressions.
TEXTS = (
    *(FOLDER / "texts.txt").read_text(encoding="utf-8").splitlines(),
    "x\n  {{- /* a comment */}}\ny {{/* another */ -}}\n z",
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


def test_a_cluster_serves_the_kinds_of_its_versions(tmp_path: Path) -> None:
    """Helm knows `batch/v1/CronJob` on a cluster, and `helm template` only with `--api-versions`."""
    (tmp_path / "templates").mkdir()
    (tmp_path / "Chart.yaml").write_text("apiVersion: v2\nname: cases\nversion: 0.1.0\n")
    asked = ("batch/v1", "batch/v1/CronJob", "batch/v1beta1/CronJob", "batch")
    served = "".join(f'{{{{ .Capabilities.APIVersions.Has "{name}" }}}} ' for name in asked)
    (tmp_path / "templates" / "served.yaml").write_text(f"served: {served}\n")
    chart = Chart(tmp_path)
    about = {"Name": helm.RELEASE, "Namespace": "default"}
    ((_, ours),) = rendering.render_texts(chart, coalesce(chart, {}), about, apis=("batch/v1",))
    assert ours.data.split() == ["served:", "true", "true", "false", "false"]


UNSUPPORTED = """
{{ getHostByName 1 }}
{{ b64dec "run!" }}
{{ splitn "." 0 "a" }}
{{ chunk 0 (list 1) }}
{{ typeOf (list 1) }}
{{ repeat 2000000 "a" }}
{{ untilStep 0 1000000 1 }}
{{ end }}
{{ else }}
{{ if .Values.on }}
{{ if .Values.on }}a{{ else }}b
{{ break }}
{{ range .Values.words }}a{{ else }}{{ break }}{{ end }}
{{ range .Values.words }}{{ break 1 }}{{ end }}
{{ until 100001 }}
{{ $x := "a" }}{{ $x 1 }}
{{ $x := "a" }}{{ 1 | $x }}
{{ 1 2 }}
{{ if .Values.on }}{{ continue }}{{ end }}
{{ range .Values.name }}{{ . }}{{ end }}
{{ range .Values.on }}{{ end }}
{{ block "a" . }}{{ end }}
{{ define name }}{{ end }}
{{ template }}
{{ template "missing" . }}
{{ include "missing" . }}
{{ $x }}
{{ $x = 1 }}
{{ range $word := .Values.words }}{{ end }}{{ $word }}
{{ range $i, $word := .Values.words }}{{ end }}{{ $i }}
{{ range .Values.words }}{{ $x := . }}{{ end }}{{ $x }}
{{ if $x := .Values.on }}{{ end }}{{ $x }}
{{ if .Values.empty }}{{ $x := 1 }}{{ else }}{{ $x }}{{ end }}
{{ with $x := .Values.name }}{{ end }}{{ $x }}
{{ range .Values.deep.none }}{{ $x := 1 }}{{ else }}{{ $x }}{{ end }}
{{ range .Values.words }}{{ $x }}{{ else }}{{ $x := 1 }}{{ end }}
{{ (1 }}
{{ 1 | }}
{{ | 1 }}
{{ }}
{{ 'a' }}
{{ .Values.name , 1 }}
{{ .Values.name.field }}
{{ .Values.name 1 }}
{{ $ 1 }}
{{ 1 | "a" }}
{{ .Values.words.field }}
{{ first .Values.name }}
{{ last .Values.env }}
{{ int .Values.words }}
{{ add 1 .Values.env }}
{{ tpl .Values.env . }}
{{ define "own" }}{{ include "own" . }}{{ end }}{{ include "own" . }}
{{ printf "%x" 1 }}
{{ printf "%d" "a" }}
{{ printf "%d" true }}
{{ printf "%d" 1.5 }}
{{ printf "%c" "a" }}
{{ printf "%s" 1 }}
{{ printf "%s" true }}
{{ printf "%s" 1.5 }}
{{ printf "%s-%s" "a" }}
{{ printf "%s" "a" "b" }}
{{ regexSplit "," "a,b" 2 }}
{{ regexSplit "," "a,b" 0 }}
{{ semverCompare ">=1.2" "1.2.3-rc.1" }}
{{ semverCompare ">1" "2.0.0" }}
{{ semverCompare "=1.2" "1.2.3" }}
{{ semverCompare "~1" "1.2.3" }}
{{ semverCompare "^0.2.3" "0.2.4" }}
{{ semverCompare "~1.2-0" "1.2.3" }}
{{ semverCompare "1.x" "1.2.3" }}
{{ semverCompare "" "1.2.3" }}
{{ semverCompare ">=1.2 or <1" "1.2.3" }}
""".strip().split("\n")


@pytest.mark.parametrize("text", UNSUPPORTED)
def test_unsupported_syntax_is_an_error(text: str) -> None:
    with pytest.raises(UnsupportedError):
        ours(text)


@pytest.mark.parametrize(
    ("text", "message", "path"),
    [
        ('{{ if gt (int .Values.count) 2 }}{{ fail "too many" }}{{ end }}', "too many", ("count",)),
        ('{{ required "give a name" .Values.empty }}', "give a name", ("empty",)),
        ("{{ .Values.nothing.field }}", "field is read from an empty value", ("nothing",)),
        ("{{ .Values.nothing.field.deeper }}", "field is read from an empty value", ("nothing",)),
        ('{{ index .Values.nothing "a" }}', "a is read from an empty value", ("nothing",)),
        ('{{ index .Values.env "Z" "a" }}', "a is read from an empty value", ("env", "Z")),
        ('{{ required "give a name" .Values.nothing }}', "give a name", ("nothing",)),
        ('{{ fail "never" }}', "never", None),
        ('{{ if .Values.on }}{{ if .Values.count }}{{ fail "no" }}{{ end }}{{ end }}', "no", ("count",)),
        ('{{ if .Values.on }}{{ if .Values.count }}x{{ end }}{{ fail "no" }}{{ end }}', "no", ("on",)),
        ('{{ if .Values.on }}x{{ end }}{{ fail "no" }}', "no", None),
        ('{{ if .Values.empty }}x{{ else }}{{ fail "no" }}{{ end }}', "no", ("empty",)),
        ("{{ with .Values.name }}{{ fail . }}{{ end }}", "run", ("name",)),
        ('{{ range .Values.words }}x{{ end }}{{ fail "no" }}', "no", None),
        ("{{ range $i, $w := .Values.words }}{{ if eq $i 2 }}{{ fail $w }}{{ end }}{{ end }}", "b", ("words", 2)),
        ('{{ fromYaml "a: [" }}', "fromYaml got invalid YAML", None),
        ('{{ fromYaml "a: 1\\n---\\nb: 1" }}', "fromYaml got invalid YAML", None),
        ('{{ fromJson "{" }}', "fromJson got invalid JSON", None),
        ("{{ div 1 0 }}", "integer divide by zero", None),
        ("{{ mod 1 0 }}", "integer divide by zero", None),
        ("{{ fromJson .Values.name }}", "fromJson got invalid JSON", ("name",)),
        ('{{ fromJson "[]" }}', "fromJson got another type of JSON", None),
        ('{{ fromJsonArray "{}" }}', "fromJsonArray got another type of JSON", None),
        ('{{ range $k, $v := .Values.env }}{{ if eq $k "NO" }}{{ fail "no" }}{{ end }}{{ end }}', "no", ("env", "NO")),
    ],
)
def test_a_failure_has_the_value_for_which_the_template_failed(text: str, message: str, path: Any) -> None:
    with pytest.raises(FailedError) as failure:
        ours(text)
    assert (failure.value.message, failure.value.origin and failure.value.origin.path) == (message, path)


def test_a_broken_manifest_has_the_value_on_its_broken_line(tmp_path: Path) -> None:
    (tmp_path / "templates").mkdir()
    (tmp_path / "Chart.yaml").write_text("apiVersion: v2\nname: c\nversion: 0.1.0\n")
    (tmp_path / "values.yaml").write_text("first: 1\nsecond: 'x: y'\nthird: 3\n")
    (tmp_path / "templates/a.yaml").write_text(
        "a: {{ .Values.first }}\nu:\nv:\nw:\nb: {{ .Values.second }}\nc: {{ .Values.third }}\n"
    )
    chart = Chart(tmp_path)
    with pytest.raises(FailedError, match="the rendered manifest is not valid YAML") as failure:
        rendering.render_chart(chart, coalesce(chart, {}), {"Name": "r", "Namespace": "n"})
    assert failure.value.origin
    assert failure.value.origin.path == ("second",)


def test_a_text_is_split_at_dashes_whatever_follows(tmp_path: Path) -> None:
    """An action with `-` after `---` takes the end of the line, and Helm splits there all the same."""
    (tmp_path / "templates").mkdir()
    (tmp_path / "Chart.yaml").write_text("apiVersion: v2\nname: a\nversion: 0.1.0\n")
    text = "# Who wrote this.\n\n---\n{{- if true -}}\nkind: Secret\nname: {{ .Values.name }}\n{{- end }}\n"
    (tmp_path / "templates/a.yaml").write_text(text)
    chart = Chart(tmp_path)
    (made,) = rendering.render_chart(chart, coalesce(chart, {"name": "b"}), {"Name": "r", "Namespace": "n"})
    assert made.tree == {"kind": "Secret", "name": "b"}


def test_templates_may_call_each_other_a_hundred_levels_deep() -> None:
    down = '{{ define "down" }}{{ if . }}{{ include "down" (sub . 1) }}{{ else }}end{{ end }}{{ end }}'
    assert ours(down + '{{ include "down" 99 }}') == "end"
    with pytest.raises(UnsupportedError, match="template down, which calls itself"):
        ours(down + '{{ include "down" 100 }}')


def test_two_texts_in_json_are_no_json() -> None:
    two = '{{ define "two" }}{{ toJson (dict "a" 1) }}{{ toJson (dict "b" 2) }}{{ end }}'
    with pytest.raises(FailedError, match="fromJson got invalid JSON"):
        ours(two + '{{ include "two" . | fromJson }}')


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


@pytest.mark.parametrize("name", BROKEN)
def test_text_that_cannot_be_read_is_refused_with_its_line(name: str) -> None:
    text, line = BROKEN[name]
    with pytest.raises(yaml_reader.BrokenError) as caught:
        yaml_reader.load_documents(text)
    assert caught.value.line == line


def test_many_brackets_side_by_side_are_read() -> None:
    assert yaml_reader.load_document(json.dumps([[]] * 2000)) == [[]] * 2000
