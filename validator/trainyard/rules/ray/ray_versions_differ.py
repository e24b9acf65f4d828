"""The head and the workers run different versions of Ray or of Python, so the workers do not join the cluster.

`ray start` compares its own versions of Ray and Python with those of the head and ends with `Version mismatch: The
cluster was started with`. The pods of the workers restart without end, and the job waits for their GPUs. The rule
compares the tags of Ray's own images, `rayproject/ray` and `rayproject/ray-ml`, and of Python those with `-py39` and
the like.

Write the same version into all groups; a YAML anchor keeps them equal.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.ray import groups_of, image_python, image_version
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
        "ray-project/kuberay pull request 2964: images with Python 3.9 and 3.11",
    ),
    needs=("rayproject/ray",),
)
def ray_versions_differ(resource: Resource) -> Iterator[Problem]:
    """Report groups with another version of Ray than the head."""
    found = [
        (group, group.containers_at.child(0, "image"), text(group.containers[0], "image"))
        for group in groups_of(resource)
        if group.containers
    ]
    known = [(group, at, image) for group, at, image in found if image_version(image) is not None]
    for group, at, image in known[1:]:
        first, place, other = known[0]
        for name, own, wanted in (
            ("Ray", image_version(image), image_version(other)),
            ("Python", image_python(image), image_python(other)),
        ):
            if own is not None and wanted is not None and own != wanted:
                yield Problem(
                    at,
                    f"{group.title} has {name} {own}, but {first.title} has {wanted}: its pods do not join the cluster",
                    f"write an image with {name} {wanted}",
                    related=((place, f"the image of {first.title}"),),
                )
                break
