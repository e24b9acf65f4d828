"""The node port of a Service is outside of the range that the API server gives to Services, so it is refused.

The API server accepts node ports from 30000 to 32767: "provided port is not in the valid range". Another range needs
its option `--service-node-port-range`, which managed clusters do not offer. The rule reads the option in configurations
of kubeadm, k3s, RKE and Talos in the files, and uses the widest range. If your cluster has another range, suppress the
finding.

Write a port of the range, or leave `nodePort` out: the API server then chooses one.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import integer, items, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Resource
from trainyard.startup import pattern

FIRST, LAST = 30000, 32767
# The option of the API server, as an argument or as a key. Sources: docs.k3s.io/cli/server; rke.docs.rancher.com,
# "Kubernetes API server options"; kubernetes.io/docs/reference/config-api/kubeadm-config.v1beta4: apiServer.extraArgs.
_RANGE = pattern(r"service[-_]node[-_]port[-_]range[\"']?\s*(?:[=:,]|value:)\s*[\"']?(\d{1,5})-(\d{1,5})")


@rule(
    code="SM015",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes v1.34.4 pkg/kubeapiserver/options/options.go: DefaultServiceNodePortRange",
        "kubernetes v1.34.4 pkg/registry/core/service/portallocator/allocator.go: ErrNotInRange",
        "github.com/element-hq/ess-helm pull 551",
    ),
    needs=("odePort",),
)
def node_port_out_of_range(resource: Resource, context: Context) -> Iterator[Problem]:
    """Report node ports that the API server does not give."""
    if resource.kind != "Service" or resource.api_version != "v1":
        return
    spec = resource.at.child("spec")
    found = [
        (integer(port, "nodePort"), spec.child("ports", index, "nodePort"))
        for index, port in enumerate(items(resource.tree, "spec", "ports"))
        if text(resource.tree, "spec", "type") in ("NodePort", "LoadBalancer")
    ]
    found.append((integer(resource.tree.get("spec"), "healthCheckNodePort"), spec.child("healthCheckNodePort")))
    for port, at in found:
        if port and not FIRST <= port <= LAST and not _is_allowed(port, context.project):
            yield Problem(
                at,
                f"node port {port} is outside of {FIRST} to {LAST}, the range that API servers have by default: the "
                "Service is refused",
                "write a port of the range, or leave it out",
            )


def _is_allowed(port: int, project: Project) -> bool:
    return any(first <= port <= last for first, last in _ranges.of(project))


def _find_ranges(project: Project) -> frozenset[tuple[int, int]]:
    """Returns the ranges that configurations of API servers in the files set."""
    texts = {id(one.source): one.source.text for one in project.documents}
    return frozenset((int(first), int(last)) for one in texts.values() for first, last in _RANGE.findall(one))


_ranges: LastIndex[Project, frozenset[tuple[int, int]]] = LastIndex(_find_ranges)
