"""Public repositories of images without a tag `latest`, by the host of their registry.

Sources: gitlab.com/nvidia/container-images/cuda doc/README.md, deprecated "latest" tag (NVIDIA/nvidia-docker issue
1454); catalog.ngc.nvidia.com, tags of the frameworks, such as `25.10-py3`; quay.io/coreos/etcd (awslabs/ai-on-eks issue
11).
"""

from __future__ import annotations

_OF_NGC = ("cuda", "pytorch", "tensorflow", "tritonserver", "tensorrt")
# A name without a host is one of Docker Hub.
WITHOUT_LATEST = frozenset(
    (
        *("docker.io/nvidia/cuda", *(f"nvcr.io/nvidia/{name}" for name in _OF_NGC)),
        "quay.io/coreos/etcd",
    )
)


def lacks_latest(image: str) -> bool:
    """Returns true if the image has the tag `latest`, written or not, of a repository without one."""
    name, at, _ = image.partition("@")
    path, colon, tag = name.partition(":")
    if at or tag not in ("", "latest") or (colon and not tag):
        return False
    host = path.partition("/")[0]
    return (path if "." in host else f"docker.io/{path}") in WITHOUT_LATEST
