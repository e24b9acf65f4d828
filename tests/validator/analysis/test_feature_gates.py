"""The tables of feature gates: what a release knows, locks and turns on."""

from __future__ import annotations

import pytest

from trainyard.analysis.gates.setting import of_image, release
from trainyard.facts import feature_gates as facts
from trainyard.facts.feature_gates import Fault
from trainyard.facts.jobs.kueue_gates import REQUIREMENTS


@pytest.mark.parametrize(
    ("program", "name", "version", "fault"),
    [
        ("kubernetes", "BlockVolume", (1, 20, 5), None),
        ("kubernetes", "BlockVolume", (1, 21, 0), Fault((1, 21))),
        ("kubernetes", "BlockVolume", (1, 99), Fault((1, 21))),
        ("kubernetes", "JobManagedBy", (1, 29), Fault((1, 30), is_early=True)),
        ("kubernetes", "JobManagedBy", (1, 30), None),
        # A beta feature may have come with a patch release.
        ("kubernetes", "AllowParsingUserUIDFromCertAuth", (1, 31, 9), None),
        ("kubernetes", "NoSuchGate", (1, 31), Fault(None)),
        ("kubernetes", "NoSuchGate", (1, 13), None),
        ("kubernetes", "NoSuchGate", (1, 99), None),
        ("kubernetes", "NoSuchGate", (1, 37, 2), Fault(None)),
        ("kubernetes", "NoSuchGate", (1, 37, 3), None),
        ("kubernetes", "NoSuchGate", (1, 37), None),
        ("kubernetes", "AllAlpha", (1, 31), None),
        # The history of the pinned release is not that of the releases.
        ("kubernetes", "MutatingAdmissionPolicy", (1, 30), None),
        ("kubeadm", "TTLAfterFinished", (1, 20, 4), Fault(None)),
        ("kubeadm", "EtcdLearnerMode", (1, 26), None),
        ("kubeadm", "EtcdLearnerMode", (1, 32), None),
        ("kubeadm", "EtcdLearnerMode", (1, 33), Fault((1, 33))),
        ("kueue", "QueueVisibility", (0, 13, 1), None),
        ("kueue", "QueueVisibility", (0, 14, 0), Fault((0, 14))),
        # Kueue has the gates of the API server's library.
        ("kueue", "APIServerTracing", (0, 14, 0), None),
    ],
)
def test_what_a_release_does_not_know(program: str, name: str, version: facts.Version, fault: Fault | None) -> None:
    assert facts.unknown(program, name, version) == fault


@pytest.mark.parametrize(
    ("name", "version", "only"),
    [
        ("CSIMigrationGCE", (1, 24), None),
        ("CSIMigrationGCE", (1, 25), True),
        ("CSIMigrationGCE", (1, 28), None),
        ("TopologyManagerPolicyOptions", (1, 35), None),
        ("TopologyManagerPolicyOptions", (1, 36), True),
        ("NoSuchGate", (1, 31), None),
    ],
)
def test_the_only_value(name: str, version: facts.Version, only: bool | None) -> None:
    assert facts.locked("kubernetes", name, version) is only


@pytest.mark.parametrize("program", facts.TITLES)
def test_the_tables_are_whole(program: str) -> None:
    gates = facts.table_of(program)
    assert gates.stages
    assert gates.newest
    for name, stages in gates.stages.items():
        assert name.isalnum()
        assert [stage.since for stage in stages] == sorted({stage.since for stage in stages})
        assert {stage.name for stage in stages} <= {"alpha", "beta", "ga", "deprecated", "gone"}
        assert not any(stage.is_gone for stage in stages[:-1])


def test_the_needs_of_kueue_are_gates() -> None:
    known = facts.table_of(facts.KUEUE).stages
    assert {name for need in REQUIREMENTS for name in (need.gate, need.other)} <= known.keys()


@pytest.mark.parametrize(
    ("image", "version"),
    [
        ("registry.k8s.io/kube-proxy:v1.31.2", (1, 31, 2)),
        ("kindest/node:v1.31.2@sha256:0123", (1, 31, 2)),
        ("public.ecr.aws/eks-distro/kubernetes/kube-proxy:v1.31.2-eks-1-31-5", (1, 31, 2)),
        ("localhost:5000/kube-proxy", None),
        ("registry.k8s.io/kube-proxy:v1.32.0-rc.1", None),
        ("registry.k8s.io/kube-proxy:latest", None),
        ("registry.k8s.io/kube-proxy:${VERSION}", None),
        (None, None),
    ],
)
def test_the_version_of_an_image(image: str | None, version: facts.Version | None) -> None:
    assert of_image(image) == version


def test_a_version_is_a_whole_text() -> None:
    assert release("1.29") == (1, 29)
    assert release(">=1.29.0") is None
    assert release("1." + "9" * 200) is None
