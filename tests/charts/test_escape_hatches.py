"""The validator judges what the values add to a run: pod templates, containers and objects."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.charts import linting

BAD_SHM = "{name: shared-memory, emptyDir: {medium: Memory, sizeLimit: 1Gi}}"
GPUS = "nodes: 2\nimage: {repository: example.com/trainer, tag: v1}\nresources: {limits: {nvidia.com/gpu: 8}}\n"
POD_TEMPLATE = f"podTemplate:\n  spec:\n    volumes:\n    - {BAD_SHM}\n"
SIDECAR = "sidecars:\n- name: tools\n  image: tools:1\n  env:\n  - {name: HF_TOKEN, value: hf_0123456789}\n"
OBJECT = """extraObjects:
- apiVersion: kubeflow.org/v1
  kind: PyTorchJob
  metadata: {name: "{{ .Release.Name }}-second"}
  spec:
    nprocPerNode: "1"
    pytorchReplicaSpecs:
      Worker:
        replicas: 2
        template:
          spec:
            containers:
            - name: pytorch
              image: a:1
              command: [torchrun, train.py]
              resources: {limits: {cpu: 64, memory: 512Gi, nvidia.com/gpu: 8}}
"""


def lint(folder: Path, text: str, *options: str) -> str:
    """Return the findings in a values file."""
    path = folder / "run.yaml"
    path.write_text(text)
    return linting.lint(*options, str(path))[1]


@pytest.mark.parametrize(
    ("added", "rule", "line"),
    [
        (POD_TEMPLATE, "SH008", 7),
        (SIDECAR, "SC004", 8),
        (OBJECT, "TD008", 0),
    ],
)
def test_a_fault_in_an_added_part_is_found(tmp_path: Path, added: str, rule: str, line: int) -> None:
    assert rule not in lint(tmp_path, GPUS)

    found = lint(tmp_path, GPUS + added)

    assert rule in found
    assert not line or f"run.yaml:{line}" in found
