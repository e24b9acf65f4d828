"""The objects of a release: their order, their hooks, their embedded documents, and the errors of broken ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from gotemplate import rendering
from gotemplate.charts import Chart
from gotemplate.errors import FailedError, UnsupportedError
from gotemplate.merging import coalesce, merge
from gotemplate.origin import Origin
from tests.charts import helm

ABOUT = {"Name": helm.RELEASE, "Namespace": "default"}
KINDS = ("Job", "MyKind", "ConfigMap", "Another", "Namespace", "Service", "APIService", "PriorityClass")


def rendered(folder: Path, values: dict[str, Any] | None = None, **templates: str) -> list[rendering.RenderedObject]:
    """Render a chart with these templates."""
    (folder / "templates").mkdir(exist_ok=True)
    (folder / "Chart.yaml").write_text("apiVersion: v2\nname: cases\nversion: 0.1.0\n")
    for name, text in templates.items():
        (folder / "templates" / f"{name}.yaml").write_text(text)
    chart = Chart(folder)
    return rendering.render_chart(chart, coalesce(chart, values or {}), ABOUT)


def test_objects_have_the_order_of_an_installation(tmp_path: Path) -> None:
    text = "---\n".join(f"apiVersion: v1\nkind: {kind}\nmetadata: {{name: a}}\n" for kind in KINDS)
    kinds = [one.tree["kind"] for one in rendered(tmp_path, all=text)]
    by_helm = [line.split()[1] for line in helm.template("helm", tmp_path).stdout.split("\n") if line[:5] == "kind:"]
    assert kinds == by_helm
    assert kinds == ["PriorityClass", "Namespace", "ConfigMap", "Service", "Job", "APIService", "Another", "MyKind"]


@pytest.mark.parametrize(
    ("metadata", "is_hook"),
    [
        ("metadata: {annotations: {helm.sh/hook: test}}", True),
        ("metadata: {annotations: {helm.sh/hook-weight: '1'}}", False),
        ("metadata: {annotations: }", False),
        ("metadata: {name: a}", False),
        ("metadata:", False),
        ("", False),
    ],
)
def test_an_object_with_the_annotation_is_a_hook(tmp_path: Path, metadata: str, is_hook: bool) -> None:
    (one,) = rendered(tmp_path, one=f"kind: Pod\n{metadata}\n")
    assert one.is_hook == is_hook


def test_texts_without_objects_give_none(tmp_path: Path) -> None:
    assert rendered(tmp_path, empty="", blank=" \n{{- /* c */ -}}\n", comment="# none\n", text="just text\n") == []


def test_an_object_knows_its_template_and_the_whole_text(tmp_path: Path) -> None:
    text = "kind: A\n---\nkind: {{ .Values.kind }}\n"
    first, second = rendered(tmp_path, {"kind": "B"}, two=text)
    assert (first.template, first.text) == ("cases/templates/two.yaml", "kind: A\n---\nkind: B\n")
    assert (second.tree, second.root.start_mark.line) == ({"kind": "B"}, 2)
    assert (first.origins, second.origins) == ({}, {("kind",): Origin(("kind",), exact=True)})


SCRIPT = """\
kind: ConfigMap
data:
  none: text
  file.yaml: |
    first: {{ .Values.first | quote }}
    fixed: 1
    {{- if .Values.on }}
    second:
      - own
      - {{ .Values.second }}
    {{- end }}
"""


def test_a_document_in_a_block_scalar_has_the_origins_of_its_nodes(tmp_path: Path) -> None:
    (one,) = rendered(tmp_path, {"first": "a", "second": "b", "on": True}, map=SCRIPT)
    tree, origins = one.embedded(("data", "file.yaml"))
    assert tree == {"first": "a", "fixed": 1, "second": ["own", "b"]}
    assert origins == {
        ("first",): Origin(("first",), exact=True),
        ("second",): Origin(("on",)),
        ("second", 1): Origin(("second",), exact=True),
    }


@pytest.mark.parametrize("path", [("data", "none"), ("data", "missing"), ("data",), ("kind", "x")])
def test_only_a_block_scalar_has_an_embedded_document(tmp_path: Path, path: tuple[str, ...]) -> None:
    (one,) = rendered(tmp_path, {"first": "a", "second": "b", "on": True}, map=SCRIPT)
    with pytest.raises(UnsupportedError, match="not a block scalar"):
        one.embedded(path)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("a: {{ .Values.first }}\nb: {{ .Values.second }}\n", ("second",)),
        ("a: {{ .Values.second }}\nb: 1\nc: {{ .Values.first }}\n", ("second",)),
        ("a: 1\nb: [\n", None),
        ("a: b: c\n{{ .Values.first }}: d\n", None),
    ],
)
def test_a_broken_manifest_names_the_value_at_its_line(tmp_path: Path, text: str, path: Any) -> None:
    with pytest.raises(FailedError, match="the rendered manifest is not valid YAML") as failure:
        rendered(tmp_path, {"first": "x", "second": "[1: 2: 3"}, broken=text)
    assert (failure.value.origin and failure.value.origin.path) == path


def test_of_several_values_files_the_last_one_wins() -> None:
    first: dict[str, Any] = {"a": {"b": 1, "c": {"d": 2}}, "e": [1], "f": {"g": 3}, "h": 4}
    files: list[dict[str, Any]] = [first, {"a": {"c": {"d": None, "x": 5}}, "e": [2], "f": 6, "h": {"i": 7}}, {}]
    assert merge(files) == {"a": {"b": 1, "c": {"d": None, "x": 5}}, "e": [2], "f": 6, "h": {"i": 7}}
    assert first["a"] == {"b": 1, "c": {"d": 2}}, "the files stay as they are"


def subchart(folder: Path, dependency: str, values: dict[str, Any]) -> dict[str, Any]:
    """Returns the values of a chart with a subchart."""
    (folder / "charts" / "part").mkdir(parents=True)
    (folder / "charts" / "part" / "Chart.yaml").write_text("apiVersion: v2\nname: part\nversion: 0.1.0\n")
    about = f"apiVersion: v2\nname: cases\nversion: 0.1.0\ndependencies:\n- {dependency}\n"
    (folder / "Chart.yaml").write_text(about)
    return coalesce(Chart(folder), values)


def test_the_values_of_a_subchart_are_a_mapping(tmp_path: Path) -> None:
    with pytest.raises(FailedError, match="part is not a mapping") as failure:
        subchart(tmp_path, "{name: part, version: 0.1.0}", {"part": 3})
    assert failure.value.origin == Origin(("part",))


def test_values_that_a_subchart_exports_are_unsupported(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="import-values"):
        subchart(tmp_path, "{name: part, version: 0.1.0, import-values: [data]}", {})


def test_a_subchart_that_is_not_in_the_folder_has_no_values(tmp_path: Path) -> None:
    values = subchart(tmp_path, "{name: missing, version: 0.1.0}", {"a": 1})
    assert values == {"a": 1, "part": {"global": {}}}, "one in the folder is installed"


def test_lookups_of_values_are_recorded(tmp_path: Path) -> None:
    own = {"a": {"b": 1, "x": 2}, "c": [{"e": 1, "f": 2}]}
    rendered(tmp_path, own, one="a: {{ .Values.a.b }}\n{{ range .Values.c }}d: {{ .e }}\n{{ end }}")
    chart, read = Chart(tmp_path), set[tuple[str | int, ...]]()
    rendering.render_chart(chart, coalesce(chart, own), ABOUT, read=read)
    assert read == {("a",), ("a", "b"), ("c",), ("c", "e")}


def test_only_wanted_texts_are_parsed(tmp_path: Path) -> None:
    with pytest.raises(FailedError):
        rendered(tmp_path, broken="a: [\n", one="kind: A\n")
    chart = Chart(tmp_path)
    made = rendering.render_chart(chart, coalesce(chart, {}), ABOUT, is_wanted=lambda text: "kind" in text)
    assert [one.tree for one in made] == [{"kind": "A"}]


def test_a_release_is_a_first_installation_as_for_helm(tmp_path: Path) -> None:
    (one,) = rendered(tmp_path, release="release: {{ toJson .Release }}\n")
    by_helm = yaml.safe_load(helm.template("helm", tmp_path).stdout)
    assert one.tree == by_helm
    assert by_helm["release"] | {"Name": "", "Namespace": ""} == {
        "IsInstall": True, "IsUpgrade": False, "Name": "", "Namespace": "", "Revision": 1, "Service": "Helm",
    }  # fmt: skip
