"""The head and the workers run different versions of Ray, so the workers do not join the cluster.

`ray start` compares its own version with that of the head and ends with `Version mismatch: The cluster was started
with`. The pods of the workers restart without end, and the job waits for their GPUs. The rule compares the tags of
Ray's own images, `rayproject/ray` and `rayproject/ray-ml`.

Write the same version into all groups; a YAML anchor keeps them equal.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.ray import groups_of, image_version
from trainyard.document.lookup import text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource


@rule(
    code="RY015",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "ray-project/ray python/ray/_private/node.py: check_version_info; issues 20166 and 50511",
        "ray-project/kuberay pull request 154: a worker with another version of Ray does not join",
    ),
    needs=("rayproject/ray",),
)
def ray_versions_differ(resource: Resource) -> Iterator[Problem]:
    """Report groups with another version of Ray than the head."""
    found = [
        (group, group.containers_at.child(0, "image"), image_version(text(group.containers[0], "image")))
        for group in groups_of(resource)
        if group.containers
    ]
    known = [(group, at, version) for group, at, version in found if version is not None]
    for group, at, version in known[1:]:
        first, place, wanted = known[0]
        if version != wanted:
            yield Problem(
                at,
                f"{group.title} has Ray {version}, but {first.title} has {wanted}: its pods do not join the cluster",
                f"write an image with Ray {wanted}",
                related=((place, f"the image of {first.title}"),),
            )
