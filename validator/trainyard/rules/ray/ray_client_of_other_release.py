"""A program connects by Ray Client to a cluster with another release of Ray or of Python, which refuses it.

An address with `ray://` leads to Ray Client, which compares both sides. Another minor release of Python ends with
"Python minor versions differ between client and server", and another release of Ray with "Version mismatch". Releases
before 2.10 compare their protocols alone. `ray job submit` and HTTP work between releases.

The rule compares the tags of Ray's own images: that of the container with the head of the RayCluster or RayService
whose Service the address names. It leaves out other images, a Python that one of the tags does not name, two releases
before 2.10, and programs with `RAY_IGNORE_VERSION_MISMATCH`.

Write the image of the cluster, or submit a job by HTTP.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.ray import Group, groups_of, image_python, image_version
from trainyard.analysis.pods.ray_addresses import ray_addresses
from trainyard.document.lookup import text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Container, Project
from trainyard.startup import pattern

_CLIENT = pattern(r"ray://([\w-]+)-head-svc(?:\.([\w-]+)[\w.-]*)?(?::\d+)?/?")
# The first release that compares the releases of both sides.
_FIRST = (2, 10)
_IGNORE = "RAY_IGNORE_VERSION_MISMATCH"


@rule(
    code="RY030",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "ray-project/ray 2.46.0 python/ray/util/client/__init__.py: _ClientContext._check_versions",
        "github.com/ray-project/ray pull 42760: releases are compared",
        "github.com/ray-project/kuberay issues 148 and 1265",
    ),
    needs=("ray://",),
)
def ray_client_of_other_release(container: Container, context: Context) -> Iterator[Problem]:
    """Report clients that the cluster refuses."""
    own = container.image or ""
    version = image_version(own)
    if version is None or container.setting(_IGNORE) is not None:
        return
    for value, at in ray_addresses(container, context):
        match = _CLIENT.fullmatch(value)
        head = _head(match[1], match[2], context) if match is not None else None
        if head is None:
            continue
        image, place = text(head.container, "image"), head.container_at.child("image")
        wanted, mine, other = image_version(image), image_python(own), image_python(image)
        if wanted is not None and wanted != version and max(_release(wanted), _release(version)) >= _FIRST:
            message = f"the client has Ray {version}, and the cluster has {wanted}: Ray Client refuses another release"
        elif wanted is not None and mine is not None and other is not None and mine != other:
            message = f"the client has Python {mine}, and the cluster has {other}: Ray Client refuses it"
        else:
            continue
        yield Problem(
            at,
            message,
            f"write an image with Ray {wanted} and the Python of the cluster, or submit a job to port 8265",
            related=((place, "the image of the head"),),
        )


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2])


def _head(name: str, namespace: str | None, context: Context) -> Group | None:
    """Returns the head of the only cluster that has a name."""
    wanted = namespace or (context.run.namespace if context.run is not None else "")
    known = _heads.of(context.project).get(name, ())
    heads = (head for where, head in known if not wanted or where in ("", wanted))
    head = next(heads, None)
    return head if next(heads, None) is None else None


def _find_heads(project: Project) -> dict[str, list[tuple[str, Group]]]:
    """Returns the namespaces and heads of all clusters with a name."""
    found: dict[str, list[tuple[str, Group]]] = {}
    for resource in project.of_kind("RayCluster", "RayService"):
        if groups := groups_of(resource):
            found.setdefault(resource.name, []).append((resource.namespace, groups[0]))
    return found


_heads: LastIndex[Project, dict[str, list[tuple[str, Group]]]] = LastIndex(_find_heads)
