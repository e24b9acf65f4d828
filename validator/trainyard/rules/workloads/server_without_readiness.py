"""Several pods of a model server are behind a Service and have no readiness probe.

A Service sends requests to pods that are ready. A container without a readiness or startup probe counts as ready as
soon as its process runs, and a model server then loads its model for minutes. With each new pod, a part of the
requests is refused: after an update, a restart, and whenever the autoscaler adds one. A rolling update even stops all
old pods before a new one answers.

The rule applies to vLLM, SGLang, TGI, TensorRT-LLM and NIM with two replicas or more behind a Service of the files.

Add a `readinessProbe` for the path of the server's health, such as `/health`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.model_servers import server_starts
from trainyard.analysis.pods.placement import has_labels
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Container, Pod, Project, Resource, Workload
from trainyard.startup import pattern

# Servers by their images or programs, beside those whose options are known.
_SERVER = pattern(r"(?:^|[\s/])(?:text-generation-(?:inference|launcher)|trtllm-serve)\b|\bnvcr\.io/nim/")
PROBES = ("readinessProbe", "startupProbe")


@rule(
    code="WL024",
    severity="warning",
    confidence="medium",
    since="0.4.0",
    sources=(
        "kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle: container probes, the default state is Success",
        "github.com/vllm-project/aibrix pull 2264",
    ),
    needs=("kind: Service", '"Service"'),
)
def server_without_readiness(run: Workload, context: Context) -> Iterator[Problem]:
    """Report servers that get requests while they load."""
    role = run.roles[0] if run.kind == "Deployment" and len(run.roles) == 1 else None
    if role is None or (role.replicas or 1) < 2 or len(role.pod.containers) != 1:
        return
    container = role.pod.containers[0]
    if any(probe in container.tree for probe in PROBES) or not _is_server(container):
        return
    service = _service(role.pod, run.namespace, context.project)
    if service is not None:
        yield Problem(
            container.at,
            f"Service `{service.name}` sends requests to container `{container.name}` while it loads its model, "
            "because it has no readiness probe",
            "add a `readinessProbe` for its health",
            related=((service.at, "the Service"),),
        )


def _is_server(container: Container) -> bool:
    words = " ".join((container.image or "", *container.command, *container.args))
    return bool(container.gpus) and (bool(server_starts(container)) or _SERVER.search(words) is not None)


def _service(pod: Pod, namespace: str, project: Project) -> Resource | None:
    by_label = _services.of(project)
    for name, value in pod.labels.items():
        for service in by_label.get((namespace, str(name), str(value)), ()):
            if has_labels(pod.labels, mapping(service.tree, "spec", "selector")):
                return service
    return None


def _find(project: Project) -> dict[tuple[str, str, str], list[Resource]]:
    """Returns the Services with an address, by their namespace and the first label that they select."""
    found: dict[tuple[str, str, str], list[Resource]] = {}
    for service in project.of_kind("Service"):
        selector = mapping(service.tree, "spec", "selector")
        if selector and mapping(service.tree, "spec").get("clusterIP") != "None":
            name, value = next(iter(selector.items()))
            found.setdefault((service.namespace, str(name), str(value)), []).append(service)
    return found


# Each server asks, and comparing it with all Services would take quadratic time.
_services: LastIndex[Project, dict[tuple[str, str, str], list[Resource]]] = LastIndex(_find)
