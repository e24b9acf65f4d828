"""Roles with equal pods: what the engine does not ask again about the second one would find nothing."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.validator.rules import cases
from trainyard.document import reading
from trainyard.document.document import Document
from trainyard.document.lookup import mapping
from trainyard.document.source import Source
from trainyard.engine import engine, registry
from trainyard.engine.engine import Engine
from trainyard.engine.finding import Finding
from trainyard.engine.rule import Context, Problem, Rule
from trainyard.linting.session import start_session
from trainyard.loaders.manifests import manifest
from trainyard.model.run import Pod, Role

FAMILIES = sorted(path.parent.name for path in registry.folder().glob("*/cases"))
JOB = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: run, namespace: team}
spec:
  pytorchReplicaSpecs:
    Master:
      replicas: 1
      template: &pod
        spec: {containers: [{name: pytorch, image: "example.com/run:1", env: [{name: NCCL_IB_TIMEOUT, value: VALUE}]}]}
    Worker: {replicas: 3, template: *pod}
"""


@pytest.mark.parametrize("family", FAMILIES)
def test_a_second_role_has_the_findings_that_it_has_if_every_rule_is_asked(
    family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in sorted((registry.folder() / family / "cases").glob("*.bad.yaml")):
        case = cases.load(path)
        documents, _ = reading.read(Source(path.name, case.text if "pytorchReplicaSpecs" in case.text else ""))
        for tree in filter(None, (with_two_roles(document.tree) for document in documents)):
            twins = case._replace(text=yaml.dump(tree, Dumper=yaml.CSafeDumper, sort_keys=False))
            found = orders(cases.lint(twins, registry.rules()))
            with monkeypatch.context() as patched:
                patched.setattr(engine, "_ALIKE", frozenset())
                assert found == orders(cases.lint(twins, registry.rules())), path.name


def with_two_roles(tree: Any) -> Any:
    """Returns a PyTorchJob with a second role that has the pod of the first one; None for any other object."""
    roles = mapping(tree, "spec", "pytorchReplicaSpecs")
    pod = roles.get("Worker", roles.get("Master"))
    if not isinstance(pod, dict):
        return None
    alike = {"Master": pod | {"replicas": 1}, "Worker": copy.deepcopy(pod) | {"replicas": 3}}
    return tree | {"spec": tree["spec"] | {"pytorchReplicaSpecs": alike}}


def orders(findings: list[Finding]) -> list[Any]:
    return [finding.order for finding in findings]


def test_a_fault_of_equal_pods_is_found_in_each_of_them(tmp_path: Path) -> None:
    file = tmp_path / "run.yaml"
    file.write_text(JOB.replace("&pod", "").replace("*pod", pod_of(JOB)).replace("VALUE", '"50"'), encoding="utf-8")

    found = [finding for finding in start_session((str(file),)).lint().findings if "NCCL_IB_TIMEOUT" in finding.message]

    assert [finding.position.line for finding in found] == [9, 10]


def pod_of(job: str) -> str:
    """Returns the pod template of the job on one line."""
    return "{" + next(line.strip() for line in job.splitlines() if "containers" in line) + "}"


def test_a_rule_is_asked_about_both_roles_if_it_asks_for_what_they_differ_in() -> None:
    asked: list[tuple[str, str]] = []

    def of_pod(pod: Pod, context: Context) -> list[Problem]:
        asked.append(("pod", str(pod.at.path[2])))
        return []

    def of_replicas(role: Role, context: Context) -> list[Problem]:
        asked.append(("replicas", str(role.replicas)))
        return []

    def of_role(pod: Pod, context: Context) -> list[Problem]:
        assert context.role is not None
        asked.append(("role", context.role.name))
        return []

    rules = [made("AA001", "Pod", of_pod), made("AA002", "Role", of_replicas), made("AA003", "Pod", of_role)]
    document = Document(Source("run.yaml", JOB), 0, yaml.safe_load(JOB), ())
    Engine(rules).judge(manifest.load_project([document]))

    assert asked == [("replicas", "1"), ("pod", "Master"), ("role", "Master"), ("replicas", "3"), ("role", "Worker")]


def made(code: str, subject: str, check: Any) -> Rule:
    return Rule(code, code, "error", "high", "0.1.0", (), subject, check, __name__)
