"""A probe names a port that the container does not have, so it fails every time.

`port: http` of a probe is the name of an entry of the container's `ports`. With a name that is not there, the kubelet
cannot tell the port: a liveness probe restarts the container again and again, and a readiness probe keeps it out of
its Service.

Write the name of the port, or its number.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.admission.pods import PROBES
from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.objects.patches import is_base
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.engine.suggestions import closest_match, format_list
from trainyard.model.run import Container


@rule(
    code="WL012",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("kubernetes v1.34.4 pkg/probe/util.go: ResolveContainerPort, findPortByName",),
    needs=PROBES,
)
def probe_port_unknown(container: Container, context: Context) -> Iterator[Problem]:
    """Report names of ports that are not there."""
    if not has_all_pods(context.run) or not container.image or is_base(context.run):
        return
    names = {text(port, "name") for port in items(container.tree, "ports")} - {""}
    for probe in PROBES:
        for action in ("httpGet", "tcpSocket"):
            port = mapping(container.tree, probe, action).get("port")
            # A number in quotes is the number.
            if not isinstance(port, str) or not port or port in names or port.isdigit() or "{" in port or "$" in port:
                continue
            near = closest_match(port, sorted(names), 0.6)
            have = format_list(sorted(names)) if names else "none with a name"
            yield Problem(
                container.at.child(probe, action, "port"),
                f"the container has no port `{port}`: the probe fails every time",
                f"did you mean `{near}`?" if near is not None else f"its ports: {have}",
            )
