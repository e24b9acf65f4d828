"""The page of versions names those that the tests install."""

from __future__ import annotations

import re

import pytest

from tests.documentation.examples import ROOT

TOOLS = ROOT / "tests" / "harness" / "cluster" / "tools"
PAGE = (ROOT / "docs" / "compatibility.md").read_text()
# A component of the page, the folder of its pin, and its Go module.
PINS = [
    ("Kubernetes", "kubernetes", "k8s.io/kubernetes"),
    ("Kubernetes", "kubernetes-oldest", "k8s.io/kubernetes"),
    ("Kubernetes", "kind", "sigs.k8s.io/kind"),
    ("training operator", "training-operator", "github.com/kubeflow/training-operator"),
    ("Kubeflow Trainer", "kubeflow-trainer", "github.com/kubeflow/trainer/v2"),
    ("Kubeflow Trainer", "kubeflow-trainer", "sigs.k8s.io/jobset"),
    ("MPI operator", "mpi-operator", "github.com/kubeflow/mpi-operator"),
    ("Kueue", "kueue", "sigs.k8s.io/kueue"),
    ("scheduler-plugins", "scheduler-plugins", "sigs.k8s.io/scheduler-plugins"),
    ("Volcano", "volcano", "volcano.sh/volcano"),
    ("Multus, Whereabouts, CNI plugins", "multus", "gopkg.in/k8snetworkplumbingwg/multus-cni.v4"),
    ("Multus, Whereabouts, CNI plugins", "whereabouts", "github.com/k8snetworkplumbingwg/whereabouts"),
    ("Multus, Whereabouts, CNI plugins", "cni-plugins", "github.com/containernetworking/plugins"),
]


@pytest.mark.parametrize(("component", "folder", "module"), PINS)
def test_the_page_names_the_version_that_is_pinned(component: str, folder: str, module: str) -> None:
    pinned = re.search(rf"\b{re.escape(module)} v(\d+\.\d+)(\.\d+)?", (TOOLS / folder / "go.mod").read_text())
    row = re.search(rf"^\| {re.escape(component)} \|.*$", PAGE, re.MULTILINE)
    assert pinned is not None
    assert row is not None
    minor, patch = pinned.groups()
    named = re.findall(r"(?<![\d.])(\d+\.\d+)(\.\d+)?(?![\d.]*\d)", row[0])
    assert (minor, patch) in named or (minor, "") in named
