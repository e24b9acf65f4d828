"""The architecture of images whose tags differ by it, for images that are built for one each.

Sources: ray-project/ray docker/ray/README.md (tags `{version}[-{Python}][-{platform}][-{architecture}]`: those without
`-aarch64` are for amd64), releases 2.2 to 2.52; ray-project/kuberay issues 1468 and 2698.
"""

from __future__ import annotations

from trainyard.startup import pattern

AMD64, ARM64 = "amd64", "arm64"
_RAY = pattern(r"(?:^|/)rayproject/ray(?:-ml|-llm)?:(\d+)\.(\d+)\.\d+([\w.-]*)")
# The last release whose tags were read.
_LAST_RAY = (2, 52)


def architecture(image: str) -> str | None:
    """Returns the only architecture of an image, None if it has several or is not known."""
    match = _RAY.search(image)
    if match is None or "@" in image or (int(match[1]), int(match[2])) > _LAST_RAY:
        return None
    return ARM64 if match[3].endswith("-aarch64") else AMD64
