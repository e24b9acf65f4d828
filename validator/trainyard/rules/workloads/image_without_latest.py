"""The image has the tag `latest`, which its repository does not have, so it cannot be pulled.

An image without a tag stands for `latest`. NVIDIA removed this tag from the images of CUDA, and its frameworks never
had it; etcd has tags of its releases alone. The pod stays in `ImagePullBackOff`: `manifest unknown`.

The rule knows a few public repositories, at their own registry. It leaves out images that a kustomization sets.

Write the tag of a release.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.replaced_images import is_replaced
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.image_tags import WITHOUT_LATEST, lacks_latest
from trainyard.model.run import Container


@rule(
    code="WL028",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "gitlab.com/nvidia/container-images/cuda doc/README.md: deprecated latest tag",
        "github.com/awslabs/awsome-distributed-ai issue 587, github.com/awslabs/ai-on-eks issue 11",
        "github.com/NVIDIA/nvidia-docker issue 1454",
    ),
    needs=tuple(sorted({name.partition("/")[2] for name in WITHOUT_LATEST})),
)
def image_without_latest(container: Container, context: Context) -> Iterator[Problem]:
    """Report images that have no such tag."""
    image = container.image or ""
    if lacks_latest(image) and not is_replaced(image, context.project):
        yield Problem(
            container.at.child("image"),
            f"`{image.partition('@')[0].partition(':')[0]}` has no tag `latest`: the image cannot be pulled",
            "write the tag of a release",
        )
