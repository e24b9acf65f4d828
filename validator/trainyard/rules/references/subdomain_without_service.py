"""The pods have a subdomain for which there is no Service, so their names do not resolve.

A pod has the name `<hostname>.<subdomain>` only if its namespace has a headless Service with the name of the subdomain.
Without it the rendezvous fails with `Name or service not known`.

The rule checks pods that are objects of their own, in files of several objects without any Service, if their program is
given such a name. Services of Jobs are often in other files.

Add a Service with `clusterIP: None`, the name of the subdomain and a selector of the pods.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.known_objects import has_kind
from trainyard.document.lookup import text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Container, Role


@rule(
    code="RF017",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes.io/docs/concepts/services-networking/dns-pod-service: names need a headless Service",
        "github.com/MicrosoftDocs/azure-docs issue 69716",
    ),
    needs=("subdomain",),
)
def subdomain_without_service(role: Role, context: Context) -> Iterator[Problem]:
    """Report subdomains without a Service."""
    run, name = context.run, text(role.pod.tree, "subdomain")
    if run is None or not name or run.kind != "Pod" or not run.is_job:
        return
    if has_kind(context.project, "Service") or len(context.project.documents) < 2 or "{" in name:
        return
    if any(_uses(container, f".{name}") for container in role.pod.containers):
        yield Problem(
            role.pod.at.child("subdomain"),
            f"no Service is called `{name}`, so the names of the pods under this subdomain do not resolve",
            f"add a Service `{name}` with `clusterIP: None` and a selector of the pods",
        )


def _uses(container: Container, ending: str) -> bool:
    texts = (*container.command, *container.args, *(one.value or "" for one in container.settings))
    return any(f"{ending}." in one or f"{ending}:" in one or one.endswith(ending) for one in texts)
