"""A feature gate is locked to its default, and the configuration sets the other value, so the program exits at start.

The gate of a stable feature is locked before it goes: "cannot set feature gate X to false, feature is locked to true".
A configuration that turned a beta feature off works until the upgrade.

The rule reads gates where `feature-gate-unknown` does, and needs the release: that of the image, of
`kubernetesVersion` or of the chart, otherwise the target.

Remove the gate. Where the feature must stay off, keep the release before.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.gates.found import gates_of
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.feature_gates import KUBEADM, TITLES, locked
from trainyard.model.run import Project


@rule(
    code="SM021",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes v1.37.2 staging/src/k8s.io/component-base/featuregate/feature_gate.go: feature is locked to",
        "facts/gates: the sources of each table",
        "github.com/gardener/gardener issue 5362, github.com/kubermatic/kubermatic pull 11904",
    ),
    needs=("featureGates", "feature-gates", "feature_gates"),
)
def feature_gate_locked(project: Project, context: Context) -> Iterator[Problem]:
    """Report gates that are set to a value that the release does not take."""
    for gate in gates_of(project, context.target):
        # kubeadm compares names alone.
        if gate.version is None or gate.value is None or gate.program == KUBEADM:
            continue
        only = locked(gate.program, gate.name, gate.version)
        if only is not None and gate.value is not only:
            release = ".".join(map(str, gate.version[:2]))
            yield Problem(
                gate.at,
                f"{TITLES[gate.program]} {release} locks the feature gate `{gate.name}` to {str(only).lower()}: "
                f"with {str(gate.value).lower()}, it does not start",
                "remove it",
            )
