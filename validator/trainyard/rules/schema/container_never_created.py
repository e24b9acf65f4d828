"""The kubelet does not create the containers: the API server takes the pod, and its fields contradict each other.

With `runAsNonRoot: true` and the user 0 the pod stays in `CreateContainerConfigError`: "container's runAsUser breaks
non-root policy". A volume of huge pages needs a container or a pod that requests pages of its size, or it is not
mounted: "hugepage size is not requested". The job neither starts nor fails.

Write another user, or remove `runAsNonRoot`; and request `hugepages-2Mi` or `hugepages-1Gi`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.patches import may_be_patched
from trainyard.document.document import Place
from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Container, Pod

_PAGES = "HugePages"


@rule(
    code="SM018",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes v1.37.2 pkg/kubelet/kuberuntime/security_context_others.go: verifyRunAsNonRoot",
        "kubernetes v1.37.2 pkg/volume/emptydir/empty_dir.go: getPageSizeMountOption",
    ),
    needs=("runAsNonRoot", _PAGES),
)
def container_never_created(pod: Pod, context: Context) -> Iterator[Problem]:
    """Report contradictions that only the kubelet sees."""
    containers = (*pod.containers, *pod.init_containers)
    told = set()
    for container in containers:
        at = _root(container, pod)
        if at is not None and at.path not in told:
            told.add(at.path)
            yield Problem(
                at,
                "the user is 0, and `runAsNonRoot` is true: the pod stays in CreateContainerConfigError",
                "write another user, or remove `runAsNonRoot`",
            )
    requested = {name for container in containers for name in (*container.limits, *container.requests)}
    requested |= {name for field in ("limits", "requests") for name in mapping(pod.tree, "resources", field)}
    for volume in pod.volumes:
        medium = text(volume.body, "medium") if volume.kind == "emptyDir" else ""
        if medium == _PAGES or medium.startswith(f"{_PAGES}-"):
            wanted = medium.replace(_PAGES, "hugepages")
            is_requested = any(str(name) == wanted or str(name).startswith(f"{wanted}-") for name in requested)
            if not is_requested and not may_be_patched(volume.at, context.run, context.project, wanted, medium):
                yield Problem(
                    volume.at.child("emptyDir", "medium"),
                    f"no container requests huge pages for volume {volume.name}: the pod stays in ContainerCreating",
                    f"request `{wanted if '-' in wanted else 'hugepages-2Mi'}`, or remove the volume",
                )


def _root(container: Container, pod: Pod) -> Place | None:
    """Returns the place of a user 0 that `runAsNonRoot` forbids; the container's own fields win."""
    own, shared = mapping(container.tree, "securityContext"), mapping(pod.tree, "securityContext")
    if own.get("runAsNonRoot", shared.get("runAsNonRoot")) is not True:
        return None
    user = own.get("runAsUser", shared.get("runAsUser"))
    if user != 0 or isinstance(user, bool):
        return None
    return (container.at if "runAsUser" in own else pod.at).child("securityContext", "runAsUser")
