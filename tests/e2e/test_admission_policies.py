"""The rules as ValidatingAdmissionPolicies: the API server refuses their bad cases and takes the good ones."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.charts import helm
from tests.harness.cluster import api
from tests.harness.cluster.cluster import Cluster
from tests.harness.jobs import dry_run, kubeflow_trainer, mpi_operator, operator_crds
from tests.harness.jobs import namespace as namespaces
from tests.validator.policies import verdicts
from tests.validator.policies.verdicts import OUT_OF_REACH, POLICIES
from trainyard.commands.policies import catalog
from trainyard.commands.policies.policy import Options, manifests
from trainyard.linting.config import load_config

NAMESPACE = "policies"
READY_SECONDS = 60
# Cases that the API server refuses without the policies, and what refuses them.
REFUSED_ANYWAY = {
    "pytorchjob_role_invalid.first.bad": "the training operator's webhook",
    "pytorchjob_role_invalid.unset.bad": "the training operator's webhook",
    "pytorchjob_role_invalid.unset.good": "the webhook of a newer operator than the one of this case",
    "pytorchjob_role_invalid.unset_unknown.good": "the webhook of a newer operator than the one of this case",
    "elastic_with_master.room.good": "the schema: a number of replicas is a string, which another rule reports",
    "backoff_limit_below_one_restart.unset.bad": "the schema: a number of replicas is a string",
    "sriov_network_vlan_invalid.limits.bad": "the schema",
}
CHECKS = """
checks:
  - code: ACME001
    name: team-label-missing
    message: the job has no label `team`
    messageExpression: "'`' + object.metadata.name + '` has no label `team`'"
    match: {kinds: [ConfigMap], resources: [configmaps], namespaces: [policies]}
    expression: has(object.metadata.labels) && 'team' in object.metadata.labels
"""


@pytest.fixture(scope="module")
def ready(
    cluster: Cluster, training_operator: None, connection: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Any]:
    """The API server with all kinds and all policies, which hold in one namespace and for objects without one."""
    namespaces.create(cluster.kubeconfig, NAMESPACE)
    folder = tmp_path_factory.mktemp("definitions")
    crds = [*kubeflow_trainer.crds(), *operator_crds.write_documented(helm.ROOT, folder)]
    labels = {"kubernetes.io/metadata.name": NAMESPACE}
    (folder / "checks.yaml").write_text(CHECKS)
    (check,) = load_config(str(folder / "checks.yaml")).checks
    options = Options("e2e-", labels=labels)
    documents = [one for policy in (catalog.of_check(check), *POLICIES.values()) for one in manifests(policy, options)]
    file = folder / "policies.yaml"
    file.write_text(yaml.safe_dump_all(documents))
    with mpi_operator.served(cluster), operator_crds.served(cluster, crds):
        connection.resources.invalidate_cache()
        try:
            api.kubectl(cluster.kubeconfig, "apply", "--filename", str(file))
            # The API server reads all policies at once: when the last one is active, all are.
            active = functools.partial(_is_active, connection, [*POLICIES][-1])
            api.wait_until(active, what="the policies to be active", seconds=READY_SECONDS)
            yield connection
        finally:
            api.kubectl(cluster.kubeconfig, "delete", "--ignore-not-found", "--filename", str(file))
    connection.resources.invalidate_cache()
    namespaces.delete(cluster.kubeconfig, NAMESPACE)


def _is_active(connection: Any, name: str) -> bool | None:
    bad = [path for path in verdicts.case_files(POLICIES[name]) if path.stem.endswith(".bad")]
    return any(_refused(connection, name, path) for path in bad) or None


def _refusals(connection: Any, path: Path) -> list[str]:
    """Return why the API server refuses the objects of a case."""
    answers = []
    for tree in verdicts.objects(path):
        metadata = {**tree["metadata"], "namespace": NAMESPACE}
        answers.append(dry_run.refusal(connection, {**tree, "metadata": metadata}))
    return [answer for answer in answers if answer]


def _refused(connection: Any, name: str, path: Path) -> bool:
    return any(f"'e2e-{name}'" in answer for answer in _refusals(connection, path))


@pytest.mark.parametrize("name", POLICIES)
def test_the_api_server_has_the_verdict_of_the_rule(ready: Any, name: str) -> None:
    refusals: list[str] = []
    for path in verdicts.case_files(POLICIES[name]):
        answers = _refusals(ready, path)
        own = [answer for answer in answers if "ValidatingAdmissionPolicy 'e2e-" in answer]
        if path.stem in REFUSED_ANYWAY:
            assert answers, path.stem
            assert own == []
        elif path.stem.endswith(".bad") and path.stem not in OUT_OF_REACH:
            # If two policies refuse an object, the API server names one of them.
            assert own, (path.stem, answers)
            refusals += own
        else:
            assert answers == [], path.stem
    assert any(f"'e2e-{name}'" in answer for answer in refusals)


def test_the_api_server_judges_by_a_check_of_the_configuration(ready: Any) -> None:
    metadata = {"name": "llm", "namespace": NAMESPACE, "labels": {"team": "vision"}}
    labelled = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    assert dry_run.refusal(ready, labelled) == ""
    bare = {**labelled, "metadata": {**metadata, "labels": {}}}
    assert "'e2e-team-label-missing'" in (answer := dry_run.refusal(ready, bare))
    assert answer.endswith("`llm` has no label `team`")
