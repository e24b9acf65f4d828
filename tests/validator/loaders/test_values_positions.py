"""The model of a values file has the places of the values, and fixes change the values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from trainyard import editing
from trainyard.document.document import Add, Append, Document, Edit, Place, Remove, SetValue
from trainyard.document.files import File
from trainyard.document.reading import read as read_documents
from trainyard.document.source import Source
from trainyard.engine.engine import Engine
from trainyard.engine.finding import resolve
from trainyard.engine.registry import find_rule
from trainyard.engine.rule import Problem, Rule
from trainyard.engine.subjects import Reading
from trainyard.linting.pipeline import lint, read_file, released
from trainyard.loaders.helm.release import ChartRelease
from trainyard.loaders.manifests.manifest import load_project
from trainyard.loaders.training_job import values
from trainyard.model.run import Container, Run

RUN = """\
# A run with everything that a finding could refer to.
nodes: 4
processesPerNode: 8
image:
  repository: registry.example.com/team/llm
  tag: "1.4"
env:
  NCCL_DEBUG: INFO
  NCCL_IB_HCA: "=mlx5_0"
envSecrets:
  HF_TOKEN: {secret: hugging-face, key: token}
resources:
  limits:
    memory: 900Gi
    nvidia.com/gpu: 8
    cpu: 96
torchrun:
  command:
    - bash
    - -c
    - |
      set -e
      export NCCL_SOCKET_IFNAME=eth1
      exec torchrun "$@"
placement:
  tolerations:
    - key: nvidia.com/gpu
      operator: Exists
"""


def documents(*texts: str) -> list[Document]:
    return [document for n, text in enumerate(texts) for document in read_documents(Source(f"{n}.yaml", text))[0]]


def run(*texts: str) -> Run:
    return load_project(values.documents_from_values(documents(*texts or (RUN,)))).runs[0]


def container(*texts: str) -> Container:
    found = run(*texts).roles[0].container
    assert found is not None
    return found


def line(place: Place) -> tuple[str, int]:
    position = place.document.locate(place)
    return position.source.name, position.line


def setting(name: str, *texts: str) -> Place:
    found = container(*texts).setting(name)
    assert found is not None
    return found.at


def test_a_variable_has_the_place_of_its_value() -> None:
    assert line(setting("NCCL_IB_HCA")) == ("0.yaml", 9)
    assert line(setting("HF_TOKEN")) == ("0.yaml", 11)


def test_a_variable_in_a_script_has_the_line_of_the_script() -> None:
    assert line(setting("NCCL_SOCKET_IFNAME")) == ("0.yaml", 23)


@pytest.mark.parametrize(
    ("path", "number"),
    [
        (("resources", "limits", "nvidia.com/gpu"), 15),
        (("resources", "requests", "memory"), 14),
        (("resources", "limits", "rdma/hca"), 13),
        (("image",), 6),
        (("env", 2), 8),
        (("env", 2, "name"), 8),
    ],
)
def test_a_field_of_the_container_has_the_place_of_its_value(path: tuple[str | int, ...], number: int) -> None:
    assert line(container().at.child(*path)) == ("0.yaml", number)


def test_the_replicas_of_a_role_have_the_place_of_nodes() -> None:
    role = run().roles[1]
    assert (role.replicas, line(role.at.child("replicas"))) == (3, ("0.yaml", 2))


def test_a_part_that_is_copied_from_the_values_keeps_all_its_lines() -> None:
    pod = run().roles[0].pod
    assert line(pod.at.child("tolerations", 0, "operator")) == ("0.yaml", 28)


def test_the_place_of_a_value_is_in_the_last_file_that_sets_it() -> None:
    second = "env:\n  LOG_LEVEL: debug\n  NCCL_DEBUG: WARN\n"
    assert container(RUN, second).setting("NCCL_DEBUG") is not None
    assert line(setting("NCCL_DEBUG", RUN, second)) == ("1.yaml", 3)
    assert line(setting("NCCL_IB_HCA", RUN, second)) == ("0.yaml", 9)


def test_a_default_has_the_place_of_the_nearest_key_in_the_values_and_a_note() -> None:
    found = container()
    at = found.at.child("imagePullPolicy")
    ((default, words),) = at.document.explain(at)
    assert line(at) == ("0.yaml", 4)
    assert words == "the chart's default"
    assert default.source.text.split("\n")[default.line - 1].strip() == "pullPolicy: IfNotPresent"


def fixed(edit: Edit, text: str = RUN) -> str:
    rule = find_rule("nccl-word-boolean")
    assert rule is not None
    finding = resolve(rule, Problem(edit.at, "", "", (edit,)))
    return editing.apply(documents(text)[0].source, finding.edits)


def test_a_changed_field_is_written_to_the_values() -> None:
    edit = SetValue(setting("NCCL_DEBUG"), "WARN")
    assert fixed(edit) == RUN.replace("NCCL_DEBUG: INFO", "NCCL_DEBUG: WARN")


def test_a_removed_variable_is_removed_from_the_values() -> None:
    edit = Remove(setting("NCCL_DEBUG")._replace(path=setting("NCCL_DEBUG").path[:-1]))
    assert fixed(edit) == RUN.replace("  NCCL_DEBUG: INFO\n", "")


def test_an_added_variable_is_added_to_the_values() -> None:
    edit = Append(container().at.child("env"), {"name": "NCCL_IB_TC", "value": "106"})
    assert fixed(edit) == RUN.replace('"=mlx5_0"\n', '"=mlx5_0"\n  NCCL_IB_TC: "106"\n')


def test_an_added_field_is_added_to_the_copied_part_of_the_values() -> None:
    edit = Add(container().at.child("resources", "limits"), "rdma/hca", 8)
    assert fixed(edit) == RUN.replace("    cpu: 96\n", "    cpu: 96\n    rdma/hca: 8\n")


def test_a_changed_default_is_added_to_the_values() -> None:
    edit = SetValue(container().at.child("imagePullPolicy"), "Always")
    assert fixed(edit) == RUN.replace('tag: "1.4"\n', 'tag: "1.4"\n  pullPolicy: Always\n')


def test_a_field_computed_by_a_template_cannot_be_fixed_in_the_values() -> None:
    made = container()
    assert fixed(SetValue(made.at.child("image"), "other")) == RUN
    assert fixed(Append(made.at.child("volumeMounts"), {"name": "x", "mountPath": "/x"})) == RUN


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("processesPerNode: 8\n", True),
        ("nodes: 4\ntrain: {module: llm}\n", True),
        ("nodes: 4\nsharedMemroy: {size: 1Gi}\nprocessesPerNode: 1\n", True),
        ("# yaml-language-server: $schema=../charts/training-job/values.schema.json\nimage: {tag: x}\n", True),
        ("image: {repository: nginx}\nresources: {}\n", False),
        ("train: {batch_size: 8}\n", False),
        ("nodes: [a, b]\n", False),
        ("processesPerNode: 8\nthreshold: {hardware: h100}\n", False),
        ("kind: List\nnodes: 4\n", False),
        ("nodes: 4\nmodel: gpt\n", False),
        ("- nodes: 4\n", False),
    ],
)
def test_values_are_recognised_by_their_characteristic_keys(text: str, known: bool) -> None:
    assert [values.recognises(document) for document in documents(text)] == [known]


def lines_found(code: str, *texts: str) -> list[int]:
    found = find_rule(code)
    assert found is not None
    readings = [read_file(File(Source(f"{n}.yaml", text))) for n, text in enumerate(texts)]
    return [finding.position.line for finding in lint(readings, Engine((found,))).findings]


def test_a_values_file_with_a_fault_counts_as_linted() -> None:
    assert lines_found("nothing-linted", "processesPerNode: none\n") == []
    assert lines_found("values-refused", "processesPerNode: none\n") == [1]


def test_a_suppression_in_the_values_applies() -> None:
    text = "processesPerNode: 1\nenv:\n  NCCL_IB_DISABLE: true  # trainyard: allow nccl-word-boolean: a test\n"
    assert lines_found("nccl-word-boolean", text) == []
    assert lines_found("nccl-word-boolean", text.split("#")[0] + "\n") == [3]


@pytest.mark.parametrize("scenario", sorted(Path("charts/training-job/ci").glob("*.yaml")), ids=lambda path: path.name)
def test_the_scenarios_of_the_chart_are_clean(scenario: Path) -> None:
    from trainyard.engine import selection

    reading: Reading = read_file(File(Source(str(scenario), scenario.read_text())))
    readings = released(ChartRelease(Path("charts/training-job")), [reading])
    rules: tuple[Rule, ...] = selection.select((), (), "regular")
    findings: Any = lint(readings, Engine(rules)).findings
    assert [(finding.rule.name, finding.position.line, finding.message) for finding in findings] == []


def test_values_without_effect_are_reported_beside_a_deepspeed_configuration() -> None:
    text = (
        "launcher: deepspeed\ndeepspeed:\n  zeroStage: 1\n  scratch: {size: 7Gi}\n  config: {bf16: {enabled: true}}\n"
    )
    assert lines_found("value-without-effect", text) == [4]


def test_a_mistake_in_the_configuration_of_deepspeed_is_found_at_its_line() -> None:
    """The chart writes the values into a text, whose other values have no place in a file."""
    text = (
        "launcher: deepspeed\ndeepspeed:\n  config:\n    bf16: {enabled: true}\n    gradient_cliping: 1\n"
        "    zero_optimization:\n      overlap_comm: true\n      stage3_prefech_bucket_size: 3\n"
    )
    assert lines_found("ds-unknown-key", text) == [5, 8]


@pytest.mark.parametrize(
    ("rule", "mistake"),
    [
        ("torchrun-nproc-gpu-mismatch", "processesPerNode: 16"),
        ("nccl-word-boolean", 'nccl: {NCCL_IB_DISABLE: "true"}'),
        ("gang-not-scheduled", "nodes: 8"),
        ("shm-too-small-for-gpus", "sharedMemory: {size: 1Gi}"),
    ],
)
def test_a_trainjob_has_the_same_findings_as_a_pytorchjob_of_the_same_values(rule: str, mistake: str) -> None:
    values = {
        "image": "image: {repository: registry.example.com/team/llm}",
        "resources": "resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 8}}",
        "nodes": "nodes: 2",
        "processesPerNode": "processesPerNode: 8",
        "sharedMemory": "sharedMemory: {size: 16Gi}",
        mistake.partition(":")[0]: mistake,
    }
    found = [lines_found(rule, "\n".join([f"kind: {kind}", *values.values()])) for kind in ("PyTorchJob", "TrainJob")]
    assert found[0] == found[1]
    assert len(found[0]) == 1
