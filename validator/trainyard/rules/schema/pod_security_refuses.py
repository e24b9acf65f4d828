"""The namespace enforces a level of the Pod Security Standards that the pod does not meet, so none is created.

With the label `pod-security.kubernetes.io/enforce`, the API server refuses pods of the namespace: "violates PodSecurity
"restricted:latest"". A job or a DaemonSet is accepted, and the error stands in the events of its controller alone.

`baseline` forbids namespaces, paths and ports of the host, privileged containers and most added capabilities, such as
IPC_LOCK and SYS_PTRACE. `restricted` also wants each container to run as a user other than root, without privilege
escalation, without capabilities and with a seccomp profile, and it forbids further kinds of volumes.

The rule looks at namespaces that the files define. It leaves out namespaces whose label says nothing or `privileged`.
In namespaces of OpenShift, which adds what `restricted` wants to each pod, it reports what is forbidden alone. It
leaves out copies of former releases: a folder `v1.2.0` beside `v1.3.0`.

Write what the level wants, or give the namespace the level that its pods need.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.admission.pod_security import breaches
from trainyard.analysis.objects.patches import is_patch
from trainyard.document.document import Place
from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.kubernetes.pod_security import ENFORCE, LEVELS
from trainyard.loaders.schemas.former_releases import is_of_former_release
from trainyard.loaders.schemas.partial import is_partial
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Pod, Project


@rule(
    code="SM016",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes.io/docs/concepts/security/pod-security-standards: baseline and restricted",
        "kubernetes v1.37.2 staging/src/k8s.io/pod-security-admission/policy: check_*.go",
        "github.com/kubernetes-sigs/node-feature-discovery-operator pull 156",
    ),
    needs=(ENFORCE,),
)
def pod_security_refuses(pod: Pod, context: Context) -> Iterator[Problem]:
    """Report pods that the level of their namespace refuses."""
    run = context.run
    if run is None or not run.namespace or is_patch(pod) or is_partial(pod.at.document):
        return
    if is_of_former_release(pod.at.document.source):
        return
    levels = _levels.of(context.project).get(run.namespace, {})
    level, label = next(iter(levels.items())) if len(levels) == 1 else ("", None)
    if level not in LEVELS or label is None:
        return
    adds = run.namespace in _of_openshift.of(context.project)
    for fault in breaches(pod, level):
        if adds and not fault.is_needed:
            continue
        yield Problem(
            fault.at,
            f"the namespace {run.namespace} enforces `{level}`, which refuses the pod: {fault.message}",
            f"{fault.help}, or give the namespace another level" if fault.is_needed else fault.help,
            related=((label, "the level"),),
        )


def _find_levels(project: Project) -> dict[str, dict[str, Place]]:
    """Returns the levels of each namespace, with the place of one that states it."""
    found: dict[str, dict[str, Place]] = {}
    for one in project.of_kind("Namespace"):
        label = one.at.child("metadata", "labels", ENFORCE)
        found.setdefault(one.name, {}).setdefault(text(one.tree, "metadata", "labels", ENFORCE), label)
    return found


_levels: LastIndex[Project, dict[str, dict[str, Place]]] = LastIndex(_find_levels)


def _find_openshift(project: Project) -> frozenset[str]:
    """Returns the namespaces with a label or an annotation of OpenShift."""
    return frozenset(
        one.name
        for one in project.of_kind("Namespace")
        for field in ("labels", "annotations")
        if any("openshift.io/" in str(name) for name in mapping(one.tree, "metadata", field))
    )


_of_openshift: LastIndex[Project, frozenset[str]] = LastIndex(_find_openshift)
