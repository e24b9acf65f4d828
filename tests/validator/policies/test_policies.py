"""Every policy says the same of the cases as its rule."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.validator.policies import verdicts
from tests.validator.policies.verdicts import OUT_OF_REACH, POLICIES
from trainyard.cli import main
from trainyard.engine import registry

CASES = [(name, path) for name, policy in POLICIES.items() for path in verdicts.case_files(policy)]


def is_bad(path: Path) -> bool:
    """Return true for a case that the rule reports."""
    return path.stem.endswith(".bad")


def test_there_are_policies_for_many_rules() -> None:
    assert len(POLICIES) >= 15


@pytest.mark.parametrize(("name", "path"), CASES, ids=lambda value: value.stem if isinstance(value, Path) else "")
def test_a_policy_has_the_verdict_of_its_rule(name: str, path: Path) -> None:
    refused = any(verdicts.refuses(POLICIES[name], tree) for tree in verdicts.objects(path))
    assert refused == (is_bad(path) and path.stem not in OUT_OF_REACH)


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_refuses_a_bad_case(name: str) -> None:
    assert any(is_bad(path) and path.stem not in OUT_OF_REACH for other, path in CASES if other == name)


def printed(capfd: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    """Return the manifests that the command prints."""
    assert main.main(["policy", *arguments]) == 0
    return list(yaml.safe_load_all(capfd.readouterr().out))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_errors_are_denied_and_warnings_are_warnings(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    documents = printed(capfd)
    names = [document["metadata"]["name"] for document in documents]
    assert len(names) == 2 * len(set(names))
    rules = {f"trainyard-{rule.name}": rule for rule in registry.rules()}
    for binding in documents[1::2]:
        denied = binding["spec"]["validationActions"] == ["Deny"]
        assert denied == (rules[binding["spec"]["policyName"]].severity == "error")
    assert {rules[name].persona for name in names} == {"regular"}


def test_every_policy_can_be_selected(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    documents = printed(capfd, "--select", ",".join(POLICIES))
    assert {document["metadata"]["name"] for document in documents} == {f"trainyard-{name}" for name in POLICIES}


def test_options_name_the_policies_the_action_and_the_namespaces(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    policy, binding = printed(
        capfd, "--select", "NC005", "--prefix", "ml-", "--action", "Audit", "--action", "Warn",
        "--namespace-selector", "training=yes", "--except-namespace", "kube-system",
    )  # fmt: skip
    assert policy["metadata"]["name"] == binding["spec"]["policyName"] == "ml-nccl-word-boolean"
    assert "NC005 nccl-word-boolean: https://" in policy["spec"]["validations"][0]["message"]
    assert binding["spec"]["validationActions"] == ["Audit", "Warn"]
    assert binding["spec"]["matchResources"]["namespaceSelector"] == {
        "matchLabels": {"training": "yes"},
        "matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system"]}],
    }


CHECK = {
    "code": "ACME001",
    "name": "team-label-missing",
    "message": "no label `team`",
    "expression": "has(object.metadata.labels)",
    "match": {"kinds": ["PyTorchJob"], "namespaces": ["vision"]},
}


def test_a_check_over_objects_is_a_policy(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    over_runs = {**CHECK, "code": "ACME002", "name": "too-many-gpus", "subject": "run", "expression": "run.gpus < 8"}
    (folder / ".trainyard.yaml").write_text(yaml.safe_dump({"select": ["ACME"], "checks": [CHECK, over_runs]}))
    assert main.main(["policy"]) == 0
    out, err = capfd.readouterr()
    policy, _ = yaml.safe_load_all(out)
    assert "`too-many-gpus` cannot be a policy" in err
    assert policy["spec"]["validations"] == [
        {"expression": CHECK["expression"], "message": "no label `team` (ACME001)", "reason": "Invalid"}
    ]
    assert policy["spec"]["matchConstraints"]["resourceRules"] == [
        {"apiGroups": ["kubeflow.org"], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["pytorchjobs"]}
    ]
    conditions = [condition["expression"] for condition in policy["spec"]["matchConditions"]]
    assert "object.metadata.?namespace.orValue('default') in [\"vision\"]" in conditions


@pytest.mark.parametrize(
    ("match", "message"),
    [
        ({"kinds": ["Notebook"]}, "the resource of the kind `Notebook` is not known; write it into `resources`"),
        ({}, "a policy needs the `kinds` or `resources` that it judges"),
    ],
)
def test_a_check_without_a_resource_is_a_mistake_if_it_is_named(
    folder: Path, capfd: pytest.CaptureFixture[str], match: dict[str, Any], message: str
) -> None:
    (folder / ".trainyard.yaml").write_text(yaml.safe_dump({"checks": [{**CHECK, "match": match}]}))
    assert main.main(["policy", "--select", "ACME001"]) == 2
    assert message in capfd.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--select", "SC001"], "no rule of this selection is a policy"),
        (["--action", "Deny", "--action", "Warn"], "an API server takes either Deny or Warn"),
        (["--prefix", "ML_"], "--prefix ML_: names of policies have lower-case letters"),
        (["--except-namespace", "kube_system"], "--except-namespace kube_system: a namespace has lower-case letters"),
        (["--namespace-selector", "training"], "--namespace-selector training: write KEY=VALUE"),
    ],
)
def test_wrong_options_are_named(
    folder: Path, capfd: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main.main(["policy", *arguments]) == 2
    assert message in capfd.readouterr().err


def test_the_manual_lists_every_policy() -> None:
    page = (Path(__file__).parents[3] / "docs/validator/policy.md").read_text()
    assert set(re.findall(r"\(\.\./rules/([\w-]+)\.md\)", page)) == set(POLICIES)
