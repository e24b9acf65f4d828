"""The release of a program does not know a feature gate, so the program exits at start: "unrecognized feature gate".

A gate comes with an alpha feature, and goes some releases after the feature is stable: then the feature is always on.
An upgrade with such a gate in the configuration leaves an API server, a scheduler or a kubelet that does not start. The
gates under `featureGates` of a `ClusterConfiguration` are those of kubeadm; others belong in `extraArgs`.

The rule knows the gates of Kubernetes, kubeadm, Kueue, KubeRay, Node Feature Discovery, Volcano and NVIDIA's DRA
driver. It reads them in configurations of kubelets, kube-proxy, kubeadm, kind, cluster-api, eksctl, Gardener, kops,
Talos, Kubespray and Kueue, in arguments of containers, and in values of charts. The release is that of the image, of
`kubernetesVersion` or of the chart, otherwise the target. Without a release, it reports misspelt names alone.

Remove a gate that has gone, and write the name of any other one as the release has it.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.gates.found import gates_of
from trainyard.analysis.gates.setting import Gate
from trainyard.engine.rule import Context, Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.facts import feature_gates as facts
from trainyard.model.run import Project

# How much a name resembles a known one that is meant; of gates of unknown releases only misspelt ones are wrong.
_ALIKE, _MISSPELT = 0.75, 0.9
# The most gates of a project that are compared with known names. Only hostile files have more that no table has.
_MOST = 500


@rule(
    code="SM020",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes v1.37.2 staging/src/k8s.io/component-base/featuregate/feature_gate.go: unrecognized feature gate",
        "kubernetes v1.37.2 cmd/kubeadm/app/apis/kubeadm/validation/validation.go: ValidateFeatureGates",
        "facts/gates: the sources of each table",
        "github.com/kubernetes/kubernetes issue 100988, github.com/siderolabs/talos issue 13480",
    ),
    needs=("featureGates", "feature-gates", "feature_gates"),
)
def feature_gate_unknown(project: Project, context: Context) -> Iterator[Problem]:
    """Report gates that the release of a program does not know."""
    compared = 0
    for gate in gates_of(project, context.target):
        compared += gate.name not in facts.table_of(gate.program).stages
        found = _problem(gate) if compared < _MOST else None
        if found is not None:
            yield Problem(gate.at, *found)


def _problem(gate: Gate) -> tuple[str, str] | None:
    """Returns the message and the help for a gate that is not known."""
    fault = facts.unknown(gate.program, gate.name, gate.version) if gate.version is not None else None
    if fault is None:
        return _misspelt(gate)
    if gate.program == facts.KUBEADM and gate.name in facts.table_of(facts.KUBERNETES).stages:
        return f"`{gate.name}` is not a feature gate of kubeadm, which refuses its configuration", (
            "write it into `feature-gates` under `extraArgs` of the components, or into the KubeletConfiguration"
        )
    lacking = f"{facts.TITLES[gate.program]} {_text(gate.version)} has no feature gate `{gate.name}`"
    if fault.since is not None and fault.is_early:
        told, helped = f"{lacking} yet", f"it comes with {_text(fault.since)}: remove it, or upgrade"
    elif fault.since is not None:
        told, helped = f"{lacking} any more", f"it is gone since {_text(fault.since)}: remove it"
    else:
        near = closest_match(gate.name, facts.known(gate.program, gate.version), _ALIKE)
        told, helped = lacking, f"write `{near}`" if near is not None else "remove it"
    return f"{told}: {_consequence(gate)}", helped


def _consequence(gate: Gate) -> str:
    if gate.program == facts.KUBEADM:
        return "it refuses its configuration"
    return "the component does not start" if gate.program == facts.KUBERNETES else "it does not start"


def _misspelt(gate: Gate) -> tuple[str, str] | None:
    """Returns the message and the help for a gate of no release whose name is almost that of a known one."""
    if gate.name in facts.table_of(gate.program).stages or gate.name in facts.table_of(facts.KUBERNETES).stages:
        return None
    near = closest_match(gate.name, facts.known(gate.program, gate.version), _MISSPELT)
    if near is None or near[:-1] == gate.name or gate.name[:-1] == near:
        return None
    told = f"no release of {facts.TITLES[gate.program]} has a feature gate `{gate.name}`"
    return f"{told}: {_consequence(gate)}", f"write `{near}`"


def _text(version: facts.Version | None) -> str:
    return ".".join(map(str, (version or ())[:2]))
