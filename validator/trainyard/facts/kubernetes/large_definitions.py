"""Installations whose resource definitions are too long for an apply from the client.

`kubectl apply` writes the whole object into the annotation `kubectl.kubernetes.io/last-applied-configuration`. All
annotations of an object have at most 262144 bytes. The definition of a kind with a pod template is longer as JSON.

Sources: kubernetes v1.34.4 apimachinery pkg/api/validation/objectmeta.go (TotalAnnotationSizeLimitB); the longest
definition of each release, as JSON without spaces: ray-project/kuberay ray-operator/config/crd/bases,
kubernetes-sigs/kueue, jobset and lws config, kubeflow/mpi-operator deploy/v2beta1/mpi-operator.yaml, kubeflow/trainer
manifests/base/crds, each tag vX.Y.0 until August 2026.
"""

from __future__ import annotations

from trainyard.startup import NamedTuple, pattern

Release = tuple[int, int]


class Installation(NamedTuple):
    """Files of a repository that hold its definitions, by words of their address, and the first release too long.

    `first` is (0, 0) if those of all releases are.
    """

    repository: str
    files: tuple[str, ...]
    first: Release


_CONFIG = ("config/default", "config/components/crd", "config/crd")
INSTALLATIONS = (
    Installation(
        "ray-project/kuberay",
        ("ray-operator/config/default", "ray-operator/config/crd", "manifests/cluster-scope-resources"),
        (0, 3),
    ),
    # That of 0.5 is longer by 159 bytes only.
    Installation("kubernetes-sigs/kueue", ("/manifests.yaml", *_CONFIG), (0, 6)),
    Installation("kubernetes-sigs/jobset", ("/manifests.yaml", *_CONFIG), (0, 2)),
    Installation("kubernetes-sigs/lws", ("/manifests.yaml", *_CONFIG), (0, 0)),
    Installation("kubeflow/mpi-operator", ("deploy/v2beta1/mpi-operator.yaml", "manifests/overlays"), (0, 5)),
    Installation(
        "kubeflow/training-operator", ("manifests/overlays/standalone", "manifests/overlays/kubeflow"), (1, 9)
    ),
    Installation("kubeflow/trainer", ("manifests/overlays/manager", "manifests/overlays/standalone"), (1, 9)),
)
_NAMED = pattern(r"(?:/download/|/raw/|[?&]ref=|githubusercontent\.com/[^/]+/[^/]+/)(?:refs/tags/)?v?(\d+)\.(\d+)")
_NEWEST = pattern(r"/latest/download/|[?&]ref=(?:master|main|HEAD)\b|/(?:refs/heads/)?(?:master|main)/")


def too_long(address: str) -> Installation | None:
    """Returns the installation at an address whose definitions are too long, None if they are short or not known."""
    # The definition of a single kind may be short.
    if "github" not in address or "/bases/" in address:
        return None
    for known in INSTALLATIONS:
        if f"/{known.repository}" in address and any(file in address for file in known.files):
            match = _NAMED.search(address)
            release = (int(match[1]), int(match[2])) if match is not None else None
            newest = release is None and _NEWEST.search(address) is not None
            return known if newest or known.first == (0, 0) or (release or (0, 0)) >= known.first else None
    return None
