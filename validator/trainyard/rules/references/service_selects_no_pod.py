"""The Service of a job's subdomain does not publish the names of its pods, so the rendezvous finds no peer.

A pod with a `subdomain` has the DNS name `<hostname>.<subdomain>` only if there is a headless Service (`clusterIP:
None`) with the name of the subdomain in its namespace, and the Service selects the pod. Otherwise `MASTER_ADDR` does
not resolve (`Name or service not known`), and every process waits until the timeout of the rendezvous.

The rule compares the selector with the labels of the pod template; it knows that controllers add labels such as
`job-name`. It applies if the Service is in the files.

Write the labels of the pod template in the selector, and `clusterIP: None`. `publishNotReadyAddresses: true` makes the
names resolve before the pods are ready.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.pod_names import may_match, subdomain
from trainyard.analysis.objects.known_objects import fitting
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Role


@rule(
    code="RF013",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes.io/docs/concepts/services-networking/dns-pod-service: Pod's hostname and subdomain fields",
        "kubernetes.io/docs/tasks/job/job-with-pod-to-pod-communication: the selector job-name",
    ),
    needs=("subdomain", "serviceName"),
)
def service_selects_no_pod(role: Role, context: Context) -> Iterator[Problem]:
    """Services that do not publish the pods of a role."""
    run = context.run
    # A JobSet has a Service of its own.
    name = subdomain(run, role) if run is not None and role.trains and run.kind != "JobSet" else ""
    if run is None or not name:
        return
    found = fitting(context.project, "Service", name, run.namespace, role.pod.at)
    if len(found) != 1:
        return
    service, spec = found[0], mapping(found[0].tree, "spec")
    selector = mapping(spec, "selector")
    if selector and not may_match(selector, role):
        words = ", ".join(f"{key}={value}" for key, value in selector.items())
        yield Problem(
            service.at.child("spec", "selector"),
            f"Service `{name}` selects `{words}`, which the pods of {run.kind} {run.name} do not have: their names do "
            "not resolve",
            "write labels of the pod template",
            related=((role.pod.template_at.child("metadata", "labels"), "the labels of the pods"),),
        )
    elif selector and spec.get("clusterIP") != "None" and spec.get("type") in (None, "ClusterIP"):
        yield Problem(
            service.at.child("spec", "clusterIP"),
            f"Service `{name}` is not headless: names such as `{run.name}-0.{name}` do not resolve",
            "write `clusterIP: None`",
            related=((role.pod.at.child("subdomain"), "the subdomain of the pods"),),
        )
