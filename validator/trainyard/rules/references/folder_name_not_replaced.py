"""The folder of a mount refers to a variable that the kubelet does not replace.

`subPathExpr` takes `$(NAME)` from the variables of the container itself. If the container has none of that name, the
kubelet cannot prepare the mount, and the container never starts: `CreateContainerConfigError`. `subPath` replaces
nothing: all pods then share one folder that is literally called `$(NAME)`.

The rule leaves out containers with an unknown `envFrom`, and names that a kustomization may replace.

Set the variable in `env`, as `POD_NAME` from the field `metadata.name`, and write `subPathExpr`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.objects.patches import may_be_patched
from trainyard.analysis.pods.environment import SERVICE_LINK, has_unknown_variables, references
from trainyard.analysis.pods.injected import injected
from trainyard.document.lookup import items, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Container


@rule(
    code="RF049",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes/kubernetes v1.34.4 pkg/kubelet/kubelet_pods.go: makeMounts, ExpandContainerVolumeMounts",
        "kubernetes.io/docs/concepts/storage/volumes: using subPath with expanded environment variables",
        "github.com/buildkite/agent-stack-k8s pull 940",
    ),
    needs=("subPath",),
)
def folder_name_not_replaced(container: Container, context: Context) -> Iterator[Problem]:
    """Report folders of mounts whose variable nobody replaces."""
    if context.run is None or not has_all_pods(context.run):
        return
    for index, mount in enumerate(items(container.tree, "volumeMounts")):
        for field in ("subPathExpr", "subPath"):
            for name in references(text(mount, field)):
                at = container.at.child("volumeMounts", index, field)
                if not may_be_patched(at, context.run, context.project, name):
                    yield from _of_field(field, name, container, context, index)


def _of_field(field: str, name: str, container: Container, context: Context, index: int) -> Iterator[Problem]:
    at = container.at.child("volumeMounts", index, field)
    if field == "subPath":
        message = f"`subPath` replaces nothing: every pod uses the folder that is called `$({name})`"
        yield Problem(at, message, f"write `subPathExpr`, and set {name} in `env`")
    elif not has_unknown_variables(container, context) and not _is_set(name, container, context):
        yield Problem(
            at,
            f"container {container.name} has no variable {name}: the kubelet cannot prepare the mount, and the "
            "container does not start",
            f"set {name} in `env`",
        )


def _is_set(name: str, container: Container, context: Context) -> bool:
    own = any(setting.name == name for setting in container.settings if setting.via in ("env", "envFrom"))
    return own or injected(context.run).has(name) or bool(SERVICE_LINK.match(name))
