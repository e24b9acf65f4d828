"""A field of the KubeletConfiguration needs a feature gate that is off, so the kubelet exits at start.

The kubelet refuses such a configuration, for example with "memorySwap.swapBehavior cannot be set when NodeSwap feature
flag is disabled". The same happens when a gate is turned off and its field stays.

The rule reports gates that the configuration turns off, and gates that are off by default in the release: the
`kubernetesVersion` of a ClusterConfiguration in the same file, otherwise the target.

Turn the gate on under `featureGates`, or remove the field.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.gates.found import kubernetes_of
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.feature_gates import KUBERNETES, default
from trainyard.model.run import Resource

# The gate of each field.
_FIELDS: dict[tuple[str, ...], str] = {
    ("crashLoopBackOff", "maxContainerRestartPeriod"): "KubeletCrashLoopBackOffMax",
    ("enableSystemLogQuery",): "NodeLogQuery",
    ("imageMaximumGCAge",): "ImageMaximumGCAge",
    ("imagePullCredentialsVerificationPolicy",): "KubeletEnsureSecretPulledImages",
    ("memorySwap", "swapBehavior"): "NodeSwap",
    ("preloadedImagesVerificationAllowlist",): "KubeletEnsureSecretPulledImages",
    ("serverTLSBootstrap",): "RotateKubeletServerCertificate",
    ("shutdownGracePeriod",): "GracefulNodeShutdown",
    ("shutdownGracePeriodByPodPriority",): "GracefulNodeShutdownBasedOnPodPriority",
    ("shutdownGracePeriodCriticalPods",): "GracefulNodeShutdown",
}
_NOTHING: tuple[Any, ...] = (None, False, "", "0s", "0", 0)


@rule(
    code="SM022",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes v1.22.0 to v1.37.2 pkg/kubelet/apis/config/validation/validation.go: ValidateKubeletConfiguration",
        "facts/gates/kubernetes.txt and kubernetes.former.txt: the default of each gate",
        "github.com/kubernetes-sigs/kubespray issue 8392",
    ),
    needs=("KubeletConfiguration",),
)
def feature_gate_needed(resource: Resource, context: Context) -> Iterator[Problem]:
    """Report fields whose gate is off."""
    if resource.kind != "KubeletConfiguration":
        return
    for path, gate in _FIELDS.items():
        if path[0] not in resource.tree:
            continue
        value = mapping(resource.tree, *path[:-1]).get(path[-1])
        if value in _NOTHING or value in ([], {}):
            continue
        written = mapping(resource.tree, "featureGates").get(gate)
        version = kubernetes_of(context.project, resource, context.target) if written is None else None
        by_default = version is not None and default(KUBERNETES, gate, version) is False
        if written is False or by_default:
            how = (
                f"is off by default in Kubernetes {'.'.join(map(str, (version or ())[:2]))}" if by_default else "is off"
            )
            yield Problem(
                resource.at.child(*path).key(),
                f"`{'.'.join(path)}` needs the feature gate {gate}, which {how}: the kubelet does not start",
                f"write `{gate}: true` under `featureGates`, or remove the field",
            )
