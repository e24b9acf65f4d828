"""Findings in third-party charts have their places in the values file."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from tests.charts import helm
from trainyard import editing
from trainyard.document.document import Place
from trainyard.document.files import File
from trainyard.document.source import Source
from trainyard.engine.engine import Engine
from trainyard.engine.registry import find_rule
from trainyard.linting.pipeline import lint, read_file, released
from trainyard.linting.report import Report
from trainyard.loaders import charts
from trainyard.loaders.helm import provenance, rendered, rendering
from trainyard.loaders.helm.errors import RenderingError
from trainyard.loaders.helm.release import ChartRelease
from trainyard.loaders.manifests.manifest import load_project
from trainyard.loaders.marks import Marks, with_changes

CHART = Path(__file__).parent / "charts" / "foreign"
RUN = (CHART / "run.yaml").read_text()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache for each test; the tools are looked up before."""
    helm.tool("helm")
    folder = tmp_path / "cache"
    monkeypatch.setenv("TRAINYARD_CACHE", str(folder))
    return folder


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache for the tests of the same run, which is traced once."""
    return tmp_path_factory.mktemp("cache")


def release(chart: Path = CHART) -> ChartRelease:
    return ChartRelease(chart, helm=helm.tool("helm"))


def linted(*codes: str, text: str = RUN, chart: Path = CHART) -> Report:
    rules = [rule for rule in map(find_rule, codes) if rule is not None]
    assert len(rules) == len(codes)
    return lint(released(release(chart), [read_file(File(Source("run.yaml", text)))]), Engine(rules))


def run_place(*path: str | int, text: str = RUN) -> Place:
    reading = released(release(), [read_file(File(Source("run.yaml", text)))])
    made = load_project(document for one in reading for document in one.documents)
    (run,) = made.runs
    return run.at.child(*path)


def line(place: Place) -> tuple[str, int]:
    position = place.document.locate(place)
    return position.source.name, position.line


POD = ("spec", "pytorchReplicaSpecs", "Worker", "template", "spec")
CONTAINER = (*POD, "containers", 0)


@pytest.mark.parametrize(
    ("path", "name", "number"),
    [
        (("spec", "pytorchReplicaSpecs", "Worker", "replicas"), "run.yaml", 1),
        (("spec", "runPolicy", "backoffLimit"), "run.yaml", 1),
        ((*CONTAINER, "env", 1, "value"), "run.yaml", 3),
        ((*CONTAINER, "env", 2, "name"), "run.yaml", 4),
        ((*CONTAINER, "resources", "limits", "nvidia.com/gpu"), "run.yaml", 8),
        ((*CONTAINER, "resources", "requests"), "run.yaml", 5),
        ((*POD, "volumes", 1, "emptyDir", "sizeLimit"), "run.yaml", 10),
        ((*POD, "volumes", 1, "emptyDir", "medium"), "run.yaml", 9),
        ((*CONTAINER, "image"), "run.yaml", 1),
        ((*CONTAINER, "command", 0), "foreign/templates/job.yaml (rendered)", 17),
    ],
)
def test_a_rendered_field_has_the_place_of_its_value(
    path: tuple[str | int, ...], name: str, number: int, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRAINYARD_CACHE", str(shared))
    assert line(run_place(*path)) == (name, number)


def test_a_finding_names_its_template() -> None:
    report = linted("nccl-word-boolean")
    assert [(finding.position.line, finding.related[-1][1]) for finding in report.findings] == [
        (3, "rendered from templates/job.yaml"),
        (13, "rendered from templates/scripts.yaml"),
    ]


def test_a_fix_changes_the_values() -> None:
    report = linted("nccl-word-boolean")
    source = report.findings[0].position.source
    text = editing.apply(source, [edit for finding in report.findings for edit in finding.edits])
    assert text == RUN.replace("DISABLE: true", 'DISABLE: "1"').replace("DISABLE=off", "DISABLE=0")


def test_a_document_in_a_value_has_the_lines_of_the_values_file() -> None:
    text = RUN + 'deepspeed: |\n  {\n    "train_batch_size": 64,\n    "train_batch_size": 32\n  }\n'
    report = linted("ds-duplicate-key", text=text)
    assert [(finding.position.source.name, finding.position.line) for finding in report.findings] == [("run.yaml", 19)]


def test_a_value_that_no_template_reads_is_reported_but_not_a_disabled_one() -> None:
    text = RUN + "monitoring: {enabled: false, port: 9500}\n"
    report = linted("value-without-effect", text=text)
    assert [finding.message for finding in report.findings] == [
        "`unusedThing` has no effect: no rendered object depends on it"
    ]


def test_a_misspelt_key_is_reported_but_not_a_free_form_one() -> None:
    text = RUN + "nodeSelectors: {zone: a}\nglobal: {team: vision}\n"
    report = linted("values-unknown-key", text=text)
    assert [(finding.position.line, finding.help) for finding in report.findings] == [
        (16, "did you mean `nodeSelector`?")
    ]


def test_a_chart_without_a_finding_is_not_traced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provenance, "trace", None)
    assert linted("nccl-word-boolean", text="replicas: 4\n").findings == ()


def test_the_same_chart_and_values_are_traced_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = linted("nccl-word-boolean").findings
    assert len(list(cache.rglob("*.json"))) == 1
    monkeypatch.setattr(provenance, "trace", None)
    assert [finding.order for finding in linted("nccl-word-boolean").findings] == [finding.order for finding in first]


def test_a_damaged_trace_in_the_cache_is_made_again(cache: Path) -> None:
    first = linted("nccl-word-boolean").findings
    (trace,) = cache.rglob("*.json")
    trace.write_text("[" * 100_000)
    assert [finding.order for finding in linted("nccl-word-boolean").findings] == [finding.order for finding in first]


def test_a_trace_without_time_renders_nothing_and_is_not_kept(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = {"count": 3, "on": True}
    tried: list[Any] = []
    end = time.monotonic()
    found = provenance.trace([("a", {"kind": "Pod"})], [("a", {"kind": "Pod"})], tried.append, {}, values, end)
    assert (tried, found) == ([], provenance.Trace(({},), (), whole=False))
    monkeypatch.setattr(rendered, "_TRACE_SECONDS", 0)
    assert linted("nccl-word-boolean").findings
    assert list(cache.rglob("*.json")) == []


def test_a_changed_template_is_traced_again(tmp_path: Path, cache: Path) -> None:
    chart = Path(shutil.copytree(CHART, tmp_path / "foreign"))
    linted("nccl-word-boolean", chart=chart)
    job = chart / "templates" / "job.yaml"
    job.write_text(job.read_text() + "\n")
    linted("nccl-word-boolean", chart=chart)
    assert len(list(cache.rglob("*.json"))) == 2


def test_crds_and_hooks_are_left_out() -> None:
    kinds = [manifest.document.tree["kind"] for manifest in rendering.helm_template(release(), {})]
    assert sorted(kinds) == ["ConfigMap", "PyTorchJob"]


def copied(tmp_path: Path, **files: str) -> Path:
    """Copy the chart and write files into the copy."""
    chart = Path(shutil.copytree(CHART, tmp_path / "foreign"))
    for name, text in files.items():
        (chart / name.replace("_", ".")).write_text(text)
    return chart


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"replicas": {"$ref": "https://example.com/schema.json"}}},
        {"allOf": [{"$ref": "file:///etc/hostname"}]},
        {"$schema": "https://example.com/meta.json"},
        {"$schema": "https://json-schema.org/../../evil"},
        {"items": {"$dynamicRef": "https://example.com/schema.json#a"}},
        {"definitions": {"a": {"$ref": "other.json#/b"}}},
    ],
)
def test_a_schema_with_references_outside_of_the_chart_is_refused(tmp_path: Path, schema: dict[str, Any]) -> None:
    chart = copied(tmp_path, values_schema_json=json.dumps(schema))
    with pytest.raises(RenderingError, match="outside of the chart"):
        linted("nccl-word-boolean", chart=chart)


def test_a_schema_with_references_to_itself_is_read(tmp_path: Path) -> None:
    schema = {
        "definitions": {"count": {"type": "integer"}},
        "properties": {"replicas": {"$ref": "#/definitions/count"}},
    }
    chart = copied(tmp_path, values_schema_json=json.dumps(schema))
    assert linted("nccl-word-boolean", text="replicas: 2\n", chart=chart).findings == ()
    with pytest.raises(RenderingError, match="replicas"):
        linted("nccl-word-boolean", text="replicas: two\n", chart=chart)


def test_the_error_of_a_failing_template_is_reported() -> None:
    with pytest.raises(RenderingError, match="mode must be pytorch or xgboost"):
        linted("nccl-word-boolean", text="mode: mpi\n")


def test_a_missing_dependency_is_an_error_and_not_downloaded(tmp_path: Path) -> None:
    about = (CHART / "Chart.yaml").read_text()
    needs = "dependencies:\n  - {name: absent, version: 1.0.0, repository: https://example.com}\n"
    chart = copied(tmp_path, Chart_yaml=about + needs)
    with pytest.raises(RenderingError, match="helm dependency build"):
        linted("nccl-word-boolean", chart=chart)


def test_the_error_without_helm_names_the_version_to_install() -> None:
    with pytest.raises(RenderingError, match=r"install Helm 3\.14 or newer"):
        charts.documents_for_chart(ChartRelease(CHART, helm="no-such-helm"), [])


def test_the_training_job_chart_needs_no_helm() -> None:
    made = charts.documents_for_chart(ChartRelease(helm.CHARTS["training-job"], helm="no-such-helm"), [])
    assert [run.kind for run in load_project(made).runs] == ["PyTorchJob"]


def test_a_marked_value_can_be_restored() -> None:
    values = {"text": "a b\n", "count": 3, "size": "64Gi", "share": 0.5, "list": [True, {}]}
    marks = Marks(values, "nothing of it")
    for leaf in marks.leaves:
        found, back = marks.found(marks.changed(leaf))
        if leaf.is_text or leaf.is_count:
            assert ([one.path for one in found], back) == ([leaf.path], leaf.value)


def test_a_changed_item_is_set_with_its_whole_list() -> None:
    merged = {"args": ["a", "b"], "other": 1}
    assert with_changes({}, merged, [(("args", 1), "c")]) == {"args": ["a", "c"]}
