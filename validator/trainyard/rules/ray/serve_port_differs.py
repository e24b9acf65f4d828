"""Ray Serve listens on another port than the one named `serve`, which KubeRay checks and opens in the Service.

`http_options.port` of the configuration is 8000 unless it is set. KubeRay sends its health checks, and the Service the
requests, to the container port with the name `serve`. With two different ports, no pod ever becomes ready, and the
RayService has no endpoints. Without a port named `serve` in the container of the head, KubeRay takes 8000, or cannot
create the Service.

Write the same port in both places.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.ray import groups_of
from trainyard.document.document import Place
from trainyard.document.lookup import integer, items, mapping, text
from trainyard.document.reading import embedded
from trainyard.document.source import BrokenText
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource

DEFAULT = 8000


@rule(
    code="RY022",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "ray-project/kuberay v1.7.0 ray-operator/controllers/ray/utils/constant.go: ServingPortName, 8000",
        "ray-project/ray python/ray/serve/schema.py: HTTPOptionsSchema",
        "github.com/ray-project/kuberay pulls 1816 and 3721",
    ),
    needs=("serveConfigV2",),
)
def serve_port_differs(resource: Resource) -> Iterator[Problem]:
    """Report ports of which only one is used."""
    raw = text(resource.tree, "spec", "serveConfigV2")
    inner = embedded(resource.at.child("spec", "serveConfigV2"), raw) if raw and resource.kind == "RayService" else None
    if inner is None or isinstance(inner, BrokenText) or not isinstance(inner.tree, dict):
        return
    options = mapping(inner.tree, "http_options")
    told = integer(options, "port")
    if told is None and "port" in options:
        return
    port = told if told is not None else DEFAULT
    if told is not None and port != DEFAULT:
        yield from _unnamed(resource, Place(inner).child("http_options", "port"), port)
    for group in groups_of(resource):
        for number, one in enumerate(items(group.container, "ports")):
            other = integer(one, "containerPort")
            if text(one, "name") == "serve" and other is not None and other != port:
                at = group.container_at.child("ports", number, "containerPort")
                related = ((Place(inner).child("http_options", "port"), "the port of Serve"),) if told else ()
                yield Problem(
                    at,
                    f"Ray Serve listens on port {port}, and KubeRay checks the port named `serve`, {other}",
                    f"write {port}, or `http_options.port: {other}`",
                    related=related,
                )


def _unnamed(resource: Resource, at: Place, port: int) -> Iterator[Problem]:
    """Yields the port of Serve if the container of the head names none."""
    head = next(iter(groups_of(resource)), None)
    if (
        head is None
        or not head.container
        or any(text(one, "name") == "serve" for one in items(head.container, "ports"))
    ):
        return
    yield Problem(
        at,
        f"Ray Serve listens on port {port}, and the container of the head has no port named `serve`: its Service leads "
        f"to {DEFAULT}, or is not created",
        f"add a port with the name `serve` and `containerPort: {port}` to the head",
        related=((head.container_at, "the container"),),
    )
