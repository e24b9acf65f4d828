"""The architecture of images that are built for one alone, by their tags, and that of nodes, by their labels.

Sources: ray-project/ray docker/ray/README.md (tags `{version}[-{Python}][-{platform}][-{architecture}]`: those without
`-aarch64` are for amd64), releases 2.2 to 2.52; ray-project/kuberay issues 1468 and 2698. docs.aws.amazon.com/ec2
instance type naming conventions: `g` behind the generation is a Graviton; docs.nvidia.com: GH200, GB200 and GB300 have
a Grace processor.
"""

from __future__ import annotations

from trainyard.startup import pattern

AMD64, ARM64 = "amd64", "arm64"
_RAY = pattern(r"(?:^|/)rayproject/ray(?:-ml|-llm)?:(\d+)\.(\d+)\.\d+([\w.-]*)")
ARCHITECTURE = "kubernetes.io/arch"
_ON_ARM = {
    "nvidia.com/gpu.product": pattern(r"NVIDIA-G(?:H200|B200|B300)\b.*"),
    **dict.fromkeys(
        ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type"),
        pattern(r"[a-z]+\d+g[a-z]*\.\w+|p6e-gb[23]00\.\w+"),
    ),
}
LABELS = (ARCHITECTURE, *_ON_ARM)
# The last release whose tags were read.
_LAST_RAY = (2, 52)


def architecture(image: str) -> str | None:
    """Returns the only architecture of an image, None if it has several or is not known."""
    match = _RAY.search(image)
    if match is None or "@" in image or (int(match[1]), int(match[2])) > _LAST_RAY:
        return None
    return ARM64 if match[3].endswith("-aarch64") else AMD64


def of_nodes(label: str, value: str) -> str | None:
    """Returns the architecture of the nodes with a label, None if the label does not tell it."""
    if label == ARCHITECTURE:
        return value if value in (AMD64, ARM64) else None
    known = _ON_ARM.get(label)
    return ARM64 if known is not None and known.fullmatch(value) else None
