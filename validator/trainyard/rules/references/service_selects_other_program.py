"""A Service also selects the pods of another program, which does not serve its port, so requests to them fail.

A Service sends each connection to one of the pods whose labels fit. If a Job, a training run or a second server has
the same labels, a part of the connections goes there: they are refused, or another program answers. The failures come
and go with the pods.

The rule looks at Services with a port number that select a server and a job, or two servers of which one declares
other ports alone. It also reports two Services with one selector and one port over two servers with different images.
It ignores headless Services, which give names, and pods of one image, as those of a canary.

Add a label that only one program has to its pods and to the selector.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.jobs.neighbours import selected_together
from trainyard.document.lookup import items, mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.images import short_name
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Pod, Project, Resource, Role, Run

_SERVERS = frozenset(("Deployment", "StatefulSet", "DaemonSet"))


@rule(
    code="RF043",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes.io/docs/concepts/services-networking/service: a selector fits every pod with its labels",
        "github.com/BerriAI/litellm issue 19940; github.com/kubernetes-sigs/jobset issue 1084",
    ),
    needs=("selector",),
)
def service_selects_other_program(resource: Resource, context: Context) -> Iterator[Problem]:
    """Report Services that also select pods of another program."""
    spec = mapping(resource.tree, "spec")
    selector = mapping(spec, "selector")
    if resource.kind != "Service" or not selector or spec.get("clusterIP") == "None":
        return
    ports = _numbers(spec)
    found = selected_together(context.project, selector, resource.namespace, resource.at) if ports else []
    servers = [(run, role) for run, role in found if run.kind in _SERVERS]
    if not servers or len(found) < 2:
        return
    jobs = [pair for pair in found if pair[0].is_job or pair[0].kind == "CronJob"]
    other = next((pair for pair in jobs if not _declared(pair[1].pod) & ports), None)
    other = other or _of_other_ports(servers, ports)
    if other is None and _has_twin(resource, selector, ports, context.project):
        other = _of_other_image(servers)
    if other is not None:
        run, role = other
        yield Problem(
            resource.at.child("spec", "selector", next(iter(selector))),
            f"Service `{resource.name}` also selects the pods of {run.kind} {run.name}: a part of the requests goes "
            "to another program",
            "select by a label that only one of the programs has",
            related=((role.pod.template_at.child("metadata", "labels"), "the labels of the other pods"),),
        )


def _numbers(spec: dict[str, Any]) -> frozenset[int]:
    """Returns the ports of the pods; none if one has a name: pods without a port of that name get no requests."""
    ports = [one.get("targetPort", one.get("port")) for one in map(mapping, items(spec, "ports"))]
    numbers = [port for port in ports if isinstance(port, int)]
    return frozenset(numbers) if len(numbers) == len(ports) else frozenset()


def _declared(pod: Pod) -> frozenset[Any]:
    containers = (*pod.containers, *pod.init_containers)
    return frozenset(mapping(port).get("containerPort") for one in containers for port in items(one.tree, "ports"))


def _of_other_ports(servers: list[tuple[Run, Role]], ports: frozenset[int]) -> tuple[Run, Role] | None:
    """Returns a server that declares other ports alone, if another one of a different image declares these."""
    declared = [(run, role, _declared(role.pod)) for run, role in servers]
    right = [_image(role) for _, role, own in declared if own & ports]
    for run, role, own in declared:
        if own and not own & ports and right and _image(role) not in right:
            return run, role
    return None


def _of_other_image(servers: list[tuple[Run, Role]]) -> tuple[Run, Role] | None:
    return next((pair for pair in servers if _image(pair[1]) != _image(servers[0][1])), None)


def _image(role: Role) -> str:
    return short_name(role.pod.containers[0].image)


def _has_twin(resource: Resource, selector: dict[str, Any], ports: frozenset[int], project: Project) -> bool:
    return len(_twins.of(project).get(_sign(resource, selector, ports), ())) > 1


def _sign(resource: Resource, selector: dict[str, Any], ports: frozenset[int]) -> tuple[Any, ...]:
    labels = frozenset((str(name), str(value)) for name, value in selector.items())
    return id(resource.at.document.source), resource.namespace, labels, ports


def _find(project: Project) -> dict[tuple[Any, ...], set[str]]:
    found: dict[tuple[Any, ...], set[str]] = {}
    for one in project.of_kind("Service"):
        spec = mapping(one.tree, "spec")
        found.setdefault(_sign(one, mapping(spec, "selector"), _numbers(spec)), set()).add(one.name)
    return found


_twins: LastIndex[Project, dict[tuple[Any, ...], set[str]]] = LastIndex(_find)
