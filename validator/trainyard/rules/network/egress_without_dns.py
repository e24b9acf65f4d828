"""Network policies let no packet of the job out to the DNS service, so its pods find each other by no name.

A policy with the type `Egress` denies all traffic out of the pods that it selects, but for what a rule admits, and DNS
is such traffic. Pods of a distributed job reach their first rank by the name of a Service or a pod: without DNS they
wait for it until a timeout, with "Temporary failure in name resolution" or "could not resolve host".

The rule applies if a policy of the job's namespace selects its pods, and no rule of any policy there admits the port
53, or 5353 of OpenShift, to anything but pods of the same namespace. It leaves out files with policies of Cilium or
Calico.

Add a policy for all pods with a rule for the port 53 of UDP and TCP.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.jobs.neighbours import together
from trainyard.analysis.objects.alike import few
from trainyard.analysis.pods.placement import has_labels, labels_of
from trainyard.document.lookup import integer, items, mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Resource, Role, Run

_POLICY, _EGRESS = "NetworkPolicy", "Egress"
# Policies of network plugins, which may admit or replace the rules of Kubernetes.
_OTHERS = (
    *("CiliumNetworkPolicy", "CiliumClusterwideNetworkPolicy", "GlobalNetworkPolicy", "AdminNetworkPolicy"),
    *("BaselineAdminNetworkPolicy", "ClusterNetworkPolicy", "Tier"),
)
_PORTS = (53, 5353)


@rule(
    code="NT096",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes.io/docs/concepts/services-networking/network-policies: default deny all egress traffic, and DNS",
        "kubernetes.io/docs/concepts/services-networking/dns-pod-service",
        "github.com/kubernetes/website pull 55115, issue 38267",
    ),
    needs=(_POLICY,),
)
def egress_without_dns(resource: Resource, context: Context) -> Iterator[Problem]:
    """Report policies behind which the pods of a job have no DNS."""
    project = context.project
    is_plain = not items(resource.tree, "spec", "podSelector", "matchExpressions")
    if not _denies(resource) or not is_plain or project.of_kind(*_OTHERS):
        return
    policies = few(_policies.of(project).get(resource.namespace, ()))
    for run in _jobs.of(project).get(resource.namespace, ()) if policies else ():
        role = next((one for one in run.training_roles if _selects(resource, run, one)), None)
        if role is None or not together(project, resource.at, run.at):
            continue
        own = [one for one in policies if _denies(one) and _selects(one, run, role)]
        if not own or own[0].name != resource.name or any(_has_dns(one) for one in own):
            continue
        yield Problem(
            resource.at.child("spec").key(),
            f"no policy lets the pods of {run.kind} {run.name} reach the DNS service: they resolve no name of each "
            "other",
            "add a rule to `egress` with the port 53 of UDP and TCP",
            related=((role.pod.template_at, "the pods"),),
        )
        return


def _find_policies(project: Project) -> dict[str, list[Resource]]:
    """Returns the policies by namespace, none if some are those of a network plugin with the same kind."""
    found: dict[str, list[Resource]] = {}
    for one in project.of_kind(_POLICY):
        if not one.api_version.startswith("networking.k8s.io/"):
            return {}
        found.setdefault(one.namespace, []).append(one)
    return found


def _find_jobs(project: Project) -> dict[str, list[Run]]:
    """Returns the jobs of several nodes by namespace."""
    found: dict[str, list[Run]] = {}
    for run in project.runs:
        if run.is_job and (run.nodes or 1) > 1:
            found.setdefault(run.namespace, []).append(run)
    return found


_policies: LastIndex[Project, dict[str, list[Resource]]] = LastIndex(_find_policies)
_jobs: LastIndex[Project, dict[str, list[Run]]] = LastIndex(_find_jobs)


def _denies(policy: Resource) -> bool:
    """True if a policy limits the traffic out of pods."""
    spec = mapping(policy.tree, "spec")
    types = items(spec, "policyTypes")
    return policy.kind == _POLICY and (_EGRESS in types if types else "egress" in spec)


def _selects(policy: Resource, run: Run, role: Role) -> bool:
    """True if a policy selects the pods of a role, or may do so."""
    return has_labels(labels_of(role, run), mapping(policy.tree, "spec", "podSelector", "matchLabels"))


def _has_dns(policy: Resource) -> bool:
    """True if a rule may admit packets to the DNS service."""
    return any(_is_for_dns(entry) for entry in items(policy.tree, "spec", "egress"))


def _is_for_dns(entry: Any) -> bool:
    ports, peers = items(entry, "ports"), items(entry, "to")
    if ports and not any(_holds(port) for port in ports):
        return False
    return not peers or any(set(mapping(peer)) != {"podSelector"} for peer in peers)


def _holds(port: Any) -> bool:
    """True if a port of a rule is that of DNS; one with a name may be."""
    first, last = integer(port, "port"), integer(port, "endPort")
    if first is None:
        return not text(port, "port") or "dns" in text(port, "port")
    return any(first <= one <= (first if last is None else last) for one in _PORTS)
