"""A probe connects to `localhost`, which is the node of the kubelet and not the pod, so it never succeeds.

The kubelet sends HTTP and TCP probes from the node. Without `host` it uses the address of the pod. With
`host: localhost` or `127.0.0.1` it connects to a port of the node: a readiness probe keeps the pod out of its Service,
and a liveness probe restarts the container again and again. In a pod with the host network, both addresses are right.

Remove `host`, and let the program listen at `0.0.0.0`. If it must listen at the loopback alone, use an `exec` probe.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.admission.pods import PROBES
from trainyard.document.document import Remove
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Container

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
    if context.pod is None or context.pod.host_network:
        return
    for probe in PROBES:
        for action in ("httpGet", "tcpSocket"):
            host = mapping(container.tree, probe, action).get("host")
            if host in LOOPBACK:
                at = container.at.child(probe, action, "host")
                yield Problem(
                    at,
                    f"the kubelet sends the {probe} to `{host}` of the node and not to the pod: it never succeeds",
                    "remove `host`, which defaults to the address of the pod",
                    (Remove(at),),
                )
