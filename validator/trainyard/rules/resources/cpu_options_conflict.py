"""Options of the CPU manager contradict each other, or the topology manager, so the kubelet does not start.

`distribute-cpus-across-cores` gives a container one thread of each core, and `full-pcpus-only` gives it whole cores.
`distribute-cpus-across-numa` and `distribute-cpus-across-cores` order the CPUs in two ways. `align-by-socket` lets a
container have the NUMA nodes of a socket, which the topology policy `single-numa-node` forbids.

Remove one of the two.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.workloads import group_of
from trainyard.model.run import Resource

_CORES, _SOCKET = "distribute-cpus-across-cores", "align-by-socket"
_OTHERS = ("full-pcpus-only", "distribute-cpus-across-numa")
_POLICY, _SINGLE = "topologyManagerPolicy", "single-numa-node"
# What strconv.ParseBool takes for true.
_TRUE = frozenset(("1", "t", "T", "true", "TRUE", "True"))


@rule(
    code="RS032",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "https://kubernetes.io/docs/concepts/policy/node-resource-managers/#cpu-policy-static--options",
        "kubernetes 06f347f6 pkg/kubelet/cm/cpumanager/policy_options.go: ValidateStaticPolicyOptions",
        "github.com/kubernetes/website pull request 48356",
    ),
    needs=("cpuManagerPolicyOptions",),
)
def cpu_options_conflict(resource: Resource) -> Iterator[Problem]:
    """Report options that do not go together."""
    if resource.kind != "KubeletConfiguration" or group_of(resource.api_version) != "kubelet.config.k8s.io":
        return
    options, at = mapping(resource.tree, "cpuManagerPolicyOptions"), resource.at.child("cpuManagerPolicyOptions")
    given = {name for name, value in options.items() if value in _TRUE}
    if text(resource.tree, "cpuManagerPolicy") != "static":
        return
    for other in _OTHERS:
        if _CORES in given and other in given:
            message = f"`{_CORES}` and `{other}` contradict each other: the kubelet does not start"
            yield Problem(at.child(_CORES), message, "remove one", related=((at.child(other), "the other"),))
    if _SOCKET in given and text(resource.tree, _POLICY) == _SINGLE:
        yield Problem(
            at.child(_SOCKET),
            f"`{_SOCKET}` does not go with the topology policy `{_SINGLE}`: the kubelet does not start",
            "remove it, or write `restricted` as the policy",
            related=((resource.at.child(_POLICY), "the policy"),),
        )
