"""A pod with host network uses the node's DNS, which cannot resolve pods and services.

With `hostNetwork: true` the policy `ClusterFirst`, which is the default, falls back to the node's resolver. Training
operators pass names of services and pods (`MASTER_ADDR`, rendezvous endpoints, headless services), which only the
cluster's DNS can resolve. The pods retry with `Name or service not known` or `failed to resolve` until their timeout.

The rule ignores MPIJobs and Volcano's Jobs, because the operators set the policy themselves. It also ignores single
pods, Deployments and Jobs that are not indexed or have no `subdomain`, whose pods have no names, unless a variable or
an argument has the name of a Service, such as `http://collector.monitoring.svc:4318`, or `http://collector:4318` for a
Service of the files. A name that the pod's
certificate gets (`--dns-names`), and the issuer and audience of tokens, are not looked up. Pods with a `dnsPolicy`
of `None` bring their own DNS configuration.

Write `dnsPolicy: ClusterFirstWithHostNet` beside `hostNetwork: true`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.analysis.jobs.workloads import is_batch_job, is_volcano
from trainyard.analysis.objects.known_objects import fitting
from trainyard.document.document import Add, SetValue
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Pod, Project, Role, Run

# The MPI operator sets the policy itself, and HyperPod's operator is closed.
CLOSED = ("MPIJob", "HyperPodPyTorchJob")
SERVICE = re.compile(r"\b[a-z0-9-]+\.[a-z0-9-]+\.svc\b(?!\.(?!cluster\.local))")
# The names in the certificate that a server makes for itself, as the webhook of cert-manager does, and the words of
# tokens that an API server signs.
NOT_LOOKED_UP = re.compile(r"--[\w-]*(?:dns-names?|cert-hosts?|san|service-account-issuer|audiences?)=")
# A host without a domain, in a URL or with a port.
ADDRESS = re.compile(r"(?:^|[\s=,])(?:[a-z][a-z0-9+]{1,15}://)?([a-z][a-z0-9-]{0,62}):\d{2,5}(?![\w.])")
# Their pods have no names that others could look up.
NAMELESS = ("Pod", "Deployment", "ReplicaSet")


@rule(
    code="RD002",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes v1.34.4 pkg/kubelet/network/dns/dns.go: getPodDNSType",
        "https://kubernetes.io/docs/concepts/services-networking/dns-pod-service/#pod-s-dns-policy",
        "kubeflow/mpi-operator v0.8.2 pkg/controller/mpi_job_controller.go: newWorker sets the policy",
        "volcano-sh/volcano v1.15.1 pkg/webhooks/admission/jobs/mutate/mutate_job.go: mutateSpec sets the policy",
    ),
    fix="safe",
    needs=("hostNetwork",),
)
def host_network_without_dns_policy(pod: Pod, context: Context) -> Iterator[Problem]:
    """Pods with host network that cannot resolve other pods."""
    run, role = context.run, context.role
    if run is None or role is None or run.kind in CLOSED or not pod.host_network:
        return
    if (_alone(run, role) or not run.is_job) and not _names_service(pod, run, context.project):
        return
    policy = pod.tree.get("dnsPolicy")
    if policy not in (None, "ClusterFirst", "Default") or (policy is None and is_volcano(run)):
        return
    at = pod.at.child("dnsPolicy")
    wanted, title = "ClusterFirstWithHostNet", role.name or run.kind
    yield Problem(
        pod.at.child("hostNetwork") if policy is None else at,
        f"pods of {title} use the host network and the node's DNS, which cannot resolve pods and services",
        f"write `dnsPolicy: {wanted}`",
        (SetValue(at, wanted) if "dnsPolicy" in pod.tree else Add(pod.at, "dnsPolicy", wanted),),
    )


def _names_service(pod: Pod, run: Run, project: Project) -> bool:
    """Returns true if a variable or an argument has the name of a Service, which only the cluster's DNS knows."""
    for container in pod.containers:
        words = (*container.command, *container.args, *(setting.value or "" for setting in container.settings))
        texts = [text for text in words if not NOT_LOOKED_UP.match(text)]
        if any(".svc" in text and SERVICE.search(text) for text in texts):
            return True
        hosts = {match[1] for text in texts for match in ADDRESS.finditer(text)}
        if any(fitting(project, "Service", host, run.namespace, pod.at) for host in hosts):
            return True
    return False


def _alone(run: Run, role: Role) -> bool:
    """Returns true if no pod looks up another: the run is one pod, or its pods have no names."""
    counts = [role.replicas for role in run.roles]
    is_named = role.tree.get("completionMode") == "Indexed" and "subdomain" in role.pod.tree
    if run.kind in NAMELESS or (_is_job(run) and not is_named):
        return True
    return None not in counts and sum(count or 0 for count in counts) <= 1


def _is_job(run: Run) -> bool:
    return is_batch_job(run) or run.kind == "CronJob"
