"""Live objects converted to manifests, and the permissions that are needed to read them."""

from __future__ import annotations

from pathlib import Path

import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.validator.audit.api_server import RESOURCES
from trainyard.commands.audit import objects
from trainyard.commands.audit.kinds import kinds
from trainyard.document.reading import read

PAGE = Path(__file__).parents[3] / "docs" / "validator" / "audit.md"


APPLIED = """
apiVersion: batch/v1
kind: Job
metadata: {name: llm, namespace: team, labels: {team: vision}}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: registry.example.com/team/llm:1.4}]
"""
LIVE = """
apiVersion: batch/v1
kind: Job
metadata:
  annotations: {kubectl.kubernetes.io/last-applied-configuration: "{}"}
  creationTimestamp: "2026-01-01T00:00:00Z"
  generation: 1
  labels: {team: vision, controller-uid: "1", job-name: llm}
  managedFields: [{manager: kubectl}]
  name: llm
  namespace: team
  uid: "1"
spec:
  completionMode: NonIndexed
  manualSelector: false
  podReplacementPolicy: TerminatingOrFailed
  selector: {matchLabels: {batch.kubernetes.io/controller-uid: "1"}}
  suspend: false
  template:
    metadata:
      creationTimestamp: null
      labels: {batch.kubernetes.io/controller-uid: "1", batch.kubernetes.io/job-name: llm}
    spec:
      containers:
      - image: registry.example.com/team/llm:1.4
        name: main
        terminationMessagePath: /dev/termination-log
        terminationMessagePolicy: File
      dnsPolicy: ClusterFirst
      restartPolicy: Never
      schedulerName: default-scheduler
      securityContext: {}
      terminationGracePeriodSeconds: 30
status: {ready: 0}
"""


def test_a_live_job_is_converted_to_the_applied_manifest() -> None:
    assert objects.manifest(yaml.safe_load(LIVE)) == yaml.safe_load(APPLIED)


def test_a_selector_that_a_user_wrote_is_kept() -> None:
    live = yaml.safe_load(LIVE.replace("manualSelector: false", "manualSelector: true"))
    manifest = objects.manifest(live)
    assert manifest["spec"]["selector"] == live["spec"]["selector"]
    assert manifest["spec"]["template"]["metadata"]["labels"] == live["spec"]["template"]["metadata"]["labels"]


@given(st.dictionaries(st.text(max_size=8), st.text(st.characters(exclude_categories=["Cs"]))))
def test_the_text_of_an_object_says_what_the_object_says(data: dict[str, str]) -> None:
    tree = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "b"}, "data": data}
    documents, broken = read(objects.file(tree).source)
    assert not broken
    assert documents[0].tree == tree


def test_the_documented_role_has_exactly_the_needed_permissions() -> None:
    role = yaml.safe_load(PAGE.read_text().split("```yaml\n")[1].split("```")[0])
    granted = {
        (group, resource, verb)
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
    asked = {(kind.group, kind.name) for kind in kinds()}
    served = {
        (version.rpartition("/")[0], kind, plural)
        for version, entries in RESOURCES.items()
        for plural, kind, _ in entries
    }
    by_name = {("", "configmaps", "get"), ("k8s.cni.cncf.io", "network-attachment-definitions", "get")}
    listed = {(group, plural, "list") for group, kind, plural in served if (group, kind) in asked and "/" not in plural}
    assert asked <= {(group, kind) for group, kind, _ in served}
    assert granted == listed | by_name
