"""Names of the metrics of exporters, from the sources of the pinned versions.

Alerts and dashboards may use no others. Exporters without a Go module have their lists in
`schemas/documented/metrics`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.harness.cluster import modules

FOLDER = Path("schemas/metrics")
FILES = f"{FOLDER}/*.txt"
_GO_LITERAL = re.compile(r'^\s*[Nn]ame:\s*"([a-z0-9_]+)",$', re.MULTILINE)


@dataclass(frozen=True)
class Names:
    """The source of an exporter's metric names: the tool folder that pins a module, a file in it, and its parser."""

    exporter: str
    tool: str
    module: str
    file: str
    read: Callable[[str], Iterable[str]]


def _apiserver(text: str) -> Iterable[str]:
    metrics = yaml.load(text, Loader=yaml.CSafeLoader)
    names = ["_".join(filter(None, (m.get("namespace"), m.get("subsystem"), m["name"]))) for m in metrics]
    return [name for name in names if name.startswith("apiserver_")]


def _kueue(text: str) -> Iterable[str]:
    names: list[str] = re.findall(r'Subsystem: constants[.]KueueName,\s+Name: *"([a-z0-9_]+)"', text)
    return [f"kueue_{name}" for name in names]


SOURCES = (
    Names(
        "training-operator",
        "training-operator",
        "github.com/kubeflow/training-operator",
        "pkg/common/metrics.go",
        _GO_LITERAL.findall,
    ),
    Names(
        "controller-runtime",
        "training-operator",
        "sigs.k8s.io/controller-runtime",
        "pkg/internal/controller/metrics/metrics.go",
        _GO_LITERAL.findall,
    ),
    Names(
        "multus",
        "multus",
        "gopkg.in/k8snetworkplumbingwg/multus-cni.v4",
        "pkg/server/server.go",
        _GO_LITERAL.findall,
    ),
    Names("kueue", "kueue", "sigs.k8s.io/kueue", "pkg/metrics/metrics.go", _kueue),
    # The modules of newer releases leave the list out.
    Names(
        "kube-apiserver",
        "kubernetes-oldest",
        "k8s.io/kubernetes",
        "test/instrumentation/documentation/documentation-list.yaml",
        _apiserver,
    ),
    Names("cadvisor", "kubernetes", "github.com/google/cadvisor/lib", "metrics/prometheus.go", _GO_LITERAL.findall),
    Names(
        "node-exporter",
        "monitoring",
        "github.com/prometheus/node_exporter",
        "collector/fixtures/e2e-output.txt",
        re.compile(r"^# TYPE (node_(?:infiniband|network)_\S+) ", re.MULTILINE).findall,
    ),
)


def write(root: Path) -> None:
    """Write one list per exporter."""
    (root / FOLDER).mkdir(parents=True, exist_ok=True)
    for source in SOURCES:
        text = (modules.source(source.tool, source.module) / source.file).read_text()
        origin = f"# Generated from {source.module}/{source.file} by `make generate`."
        lines = [origin, *sorted(set(source.read(text)))]
        (root / FOLDER / f"{source.exporter}.txt").write_text("\n".join(lines) + "\n")
