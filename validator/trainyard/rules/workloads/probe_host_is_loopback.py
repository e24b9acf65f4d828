"""A probe connects to `localhost`, which is the node of the kubelet and not the pod, so it never succeeds.

The kubelet sends HTTP and TCP probes from the node. Without `host` it uses the address of the pod. With `host:
localhost` or `127.0.0.1` it connects to a port of the node: a readiness probe keeps the pod out of its Service, and a
liveness probe restarts the container again and again. In a pod with the host network, for a port with a `hostPort`, and
in a Service of Knative, whose proxy is in the pod, both addresses are right.

Remove `host`, and let the program listen at `0.0.0.0`. If it must listen at the loopback alone, use an `exec` probe.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.admission.pods import PROBES
from trainyard.document.document import Remove
from trainyard.document.lookup import items, mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Container

_KNATIVE = "serving.knative.dev/"
LOOPBACK = ("localhost", "127.0.0.1", "::1")


@rule(
    code="WL019",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes v1.34.4 pkg/kubelet/prober/prober.go: runProbe, host defaults to status.PodIP",
        "github.com/armadaproject/armada pull 250, github.com/parca-dev/parca-agent pull 1866",
    ),
    fix="unsafe",
    needs=PROBES,
)
def probe_host_is_loopback(container: Container, context: Context) -> Iterator[Problem]:
    """Report probes to the node itself."""
    if context.pod is None or context.pod.host_network or context.run is None:
        return
    if context.run.api_version.startswith(_KNATIVE):
        return
    for probe in PROBES:
        for action in ("httpGet", "tcpSocket"):
            host = mapping(container.tree, probe, action).get("host")
            port = mapping(container.tree, probe, action).get("port")
            if host in LOOPBACK and not _is_of_node(port, container):
                at = container.at.child(probe, action, "host")
                yield Problem(
                    at,
                    f"the kubelet sends the {probe} to `{host}` of the node and not to the pod: it never succeeds",
                    "remove `host`, which defaults to the address of the pod",
                    (Remove(at),),
                )


def _is_of_node(port: object, container: Container) -> bool:
    """True if a port of the node leads to the container."""
    ports = [mapping(one) for one in items(container.tree, "ports")]
    return any(one.get("hostPort") and port in (one["hostPort"], one.get("name")) for one in ports)
