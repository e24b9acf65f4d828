"""Rules that look at nothing but a variable are done with a value once; no pod hides a fault of another pod."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainyard.linting.session import start_session

JOB = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: run}
spec:
  pytorchReplicaSpecs:
    Master:
      template:
        spec:
          containers:
            - name: pytorch
              image: registry.example.com/run:1
              env: [{name: NCCL_IB_TIMEOUT, value: FIRST}]
    Worker:
      template:
        spec:
          containers:
            - name: pytorch
              image: registry.example.com/run:1
              env: [{name: NCCL_IB_TIMEOUT, value: SECOND}]
"""


@pytest.mark.parametrize(
    ("first", "second", "lines"),
    [('"22"', "22", [19]), ("22", '"22"', [12]), ("22", "22", [12, 19]), ('"22"', '"22"', [])],
)
def test_a_value_of_another_type_is_judged_in_each_pod(
    first: str, second: str, lines: list[int], tmp_path: Path
) -> None:
    file = tmp_path / "run.yaml"
    file.write_text(JOB.replace("FIRST", first).replace("SECOND", second), encoding="utf-8")
    session = start_session((str(file),))
    # The second time, the engine knows the values of the first.
    for _ in range(2):
        found = [finding for finding in session.lint().findings if finding.rule.code == "HV001"]
        assert [finding.position.line for finding in found] == lines
