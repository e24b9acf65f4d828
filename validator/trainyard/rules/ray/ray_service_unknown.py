"""A program connects to a Service of a Ray cluster that does not exist, so it waits or fails.

KubeRay calls the Services of a cluster `<name>-head-svc` and `<name>-serve-svc`, and that of a cluster over several
hosts `<name>-headless`. Another name behind that of the cluster does not resolve: an init container that waits for it
never ends, and `ray.init` fails.

The rule looks at names that begin like a RayCluster of the files and end with `-svc`. It also compares addresses of
Ray with the Services of the file, if a single one of them has the port of the address and none has the name.

Write the name of the Service.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.folders import SAME_FOLDER, distance
from trainyard.analysis.objects.known_objects import is_known
from trainyard.analysis.pods.ray_addresses import ray_addresses
from trainyard.document.document import Place
from trainyard.document.lookup import items, text
from trainyard.document.source import Source
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Container, Project, Resource
from trainyard.startup import pattern

_KINDS = ("RayCluster", "RayService")
_HOST = pattern(r"(?<![\w./-])([a-z0-9](?:[a-z0-9-]*[a-z0-9])?)-svc(?=[.:/\s\"';|)]|$)")
_MADE = ("head", "serve", "headless")
_ADDRESS = pattern(r"(?:ray|https?)://([a-z0-9][a-z0-9-]*):(\d{2,5})/?\Z|([a-z0-9]*[a-z][a-z0-9-]*):(6379)\Z")
_LOCAL = "localhost"


@rule(
    code="RY043",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "ray-project/kuberay v1.6.1 ray-operator/controllers/ray/utils/util.go: GenerateHeadServiceName",
        "github.com/ray-project/kuberay pull 45, ray-project/ray issue 19061",
    ),
    needs=("RayCluster", "RayService", "ray://", ":6379"),
)
def ray_service_unknown(container: Container, context: Context) -> Iterator[Problem]:
    """Report names of Services of Ray that nothing creates."""
    done: set[str] = set()
    for value, at in _texts(container) if _clusters.of(context.project) else ():
        for match in _HOST.finditer(value):
            name = f"{match[1]}-svc"
            cluster = _cluster(match[1], context.project)
            if cluster is None or name in done or is_known(context.project, "Service", name):
                continue
            done.add(name)
            yield Problem(
                at.below(value.count("\n", 0, match.start())) if "\n" in value else at,
                f"there is no Service `{name}`: KubeRay names the Service of the head of {cluster.kind} "
                f"`{cluster.name}` `{cluster.name}-head-svc`",
                f"write `{cluster.name}-head-svc`",
                related=((cluster.at.child("metadata", "name"), "the cluster"),),
            )
    for value, at in ray_addresses(container, context):
        host = _ADDRESS.match(value)
        if host is not None:
            yield from _of_address(host[1] or host[3], int(host[2] or host[4]), at, context.project)


def _of_address(host: str, port: int, at: Place, project: Project) -> Iterator[Problem]:
    if host == _LOCAL or is_known(project, "Service", host) or any(host.startswith(one) for one in _names_of(project)):
        return
    near = _services.of(project).get((at.document.source, port), [])
    if len(near) == 1 and distance(near[0].at, at) <= SAME_FOLDER:
        yield Problem(
            at,
            f"no file defines the Service `{host}`, and `{near[0].name}` has the port {port}: the connection fails",
            f"did you mean `{near[0].name}`?",
            related=((near[0].at.child("metadata", "name"), "the Service with the port"),),
        )


def _texts(container: Container) -> Iterator[tuple[str, Place]]:
    for field in ("command", "args"):
        for index, word in enumerate(items(container.tree, field)):
            if isinstance(word, str):
                yield word, container.at.child(field, index)
    for setting in container.settings:
        if setting.value and setting.via == "env":
            yield setting.value, setting.at


def _cluster(name: str, project: Project) -> Resource | None:
    """Returns the cluster whose name begins a name, if KubeRay gives no Service this name."""
    found = [one for one in _clusters.of(project) if name.startswith(f"{one.name}-")]
    longest = max(found, key=lambda one: len(one.name), default=None)
    if longest is None or "raycluster" in name[len(longest.name) :] or name.rpartition("-")[2] in _MADE:
        return None
    own = (
        text(longest.tree, "spec", "headGroupSpec", "headService", "metadata", "name"),
        text(longest.tree, "spec", "serveService", "metadata", "name"),
    )
    return None if f"{name}-svc" in own else longest


def _names_of(project: Project) -> tuple[str, ...]:
    return tuple(one.name for one in project.of_kind(*_KINDS, "RayJob") if one.name)


def _find_services(project: Project) -> dict[tuple[Source, int], list[Resource]]:
    found: dict[tuple[Source, int], list[Resource]] = {}
    for service in project.of_kind("Service"):
        for port in items(service.tree, "spec", "ports"):
            number = port.get("port") if isinstance(port, dict) else None
            if isinstance(number, int):
                found.setdefault((service.at.document.source, number), []).append(service)
    return found


_services: LastIndex[Project, dict[tuple[Source, int], list[Resource]]] = LastIndex(_find_services)
_clusters: LastIndex[Project, tuple[Resource, ...]] = LastIndex(
    lambda project: tuple(one for one in project.of_kind(*_KINDS) if one.name)[:64]
)
