"""The network annotation gives all pods of the template one address, so at most one of them is reachable.

The `ips` and the `mac` of the annotation apply to every pod that is made from the template. Two pods with one address
take each other's traffic; the rendezvous hangs or connects to the wrong rank. Static addresses suit one pod alone.

Leave `ips` and `mac` out, and let an IPAM plugin assign an address of a range to each pod, such as Whereabouts.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.network.multus import annotation_place, attachments
from trainyard.document.lookup import items, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Workload


@rule(
    code="NT035",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "github.com/k8snetworkplumbingwg/multus-cni issues 346 and 589: static addresses are for one pod",
        "k8snetworkplumbingwg/multi-net-spec v1.3: ips and mac of a network selection element",
    ),
    needs=("k8s.v1.cni.cncf.io/networks",),
)
def address_of_several_pods(run: Workload, context: Context) -> Iterator[Problem]:
    """Report fixed addresses in templates of several pods."""
    if not has_all_pods(run) or not context.project.runs:
        return
    for role in run.roles:
        if (role.replicas or 0) < 2 and run.kind != "DaemonSet":
            continue
        for one in attachments(role.pod):
            field = "ips" if items(one.tree, "ips") or text(one.tree, "ips") else "mac" if text(one.tree, "mac") else ""
            if field:
                count = "all" if run.kind == "DaemonSet" else f"all {role.replicas}"
                yield Problem(
                    annotation_place(role.pod),
                    f"{count} pods of {run.kind} {run.name} get the same `{field}` in network `{one.name}`",
                    f"remove `{field}`, and let an IPAM plugin such as Whereabouts assign addresses of a range",
                )
                break
