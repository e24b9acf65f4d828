"""Feature gates in the arguments of containers, in the configuration of Kueue, and in the values of charts.

Sources: kubernetes-sigs/kueue v0.19.2 charts/kueue/values.yaml; ray-project/kuberay v1.7.0
helm-chart/kuberay-operator/values.yaml; kubernetes-sigs/node-feature-discovery v0.19.0
deployment/helm/node-feature-discovery/values.yaml; kubernetes-sigs/dra-driver-nvidia-gpu v25.12.0
deployments/helm/nvidia-dra-driver-gpu/values.yaml.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.gates.setting import Gate, gates, in_arguments, in_list, in_map, of_image, release
from trainyard.analysis.objects.releases import DeclaredRelease
from trainyard.document.document import Place
from trainyard.document.lookup import mapping, text
from trainyard.document.reading import embedded_mapping
from trainyard.facts.feature_gates import DRA_DRIVER, KUBERAY, KUBERNETES, KUEUE, NFD, VOLCANO, Version
from trainyard.facts.images import short_name
from trainyard.model.run import Container

_GATES = "featureGates"
_MANAGER = ("managerConfig", "controllerManagerConfigYaml")
_PROGRAMS = {
    **dict.fromkeys(
        ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy", "kubelet", "hyperkube",
         "cluster-autoscaler"),
        KUBERNETES,
    ),
    "kueue": KUEUE,
    "node-feature-discovery": NFD,
    **dict.fromkeys(("vc-scheduler", "vc-controller-manager", "vc-webhook-manager"), VOLCANO),
}  # fmt: skip
_CHARTS = {
    "kuberay-operator": KUBERAY,
    "node-feature-discovery": NFD,
    "nvidia-dra-driver-gpu": DRA_DRIVER,
    "dra-driver-nvidia-gpu": DRA_DRIVER,
}


def program_of(image: str | None) -> str | None:
    """Returns the program in an image; None if it is none with known gates."""
    name = (image or "").partition("@")[0]
    return KUBERAY if "kuberay/operator" in name else _PROGRAMS.get(short_name(image))


def of_container(container: Container) -> Iterator[Gate]:
    """Yields the gates in the arguments of a container."""
    program = program_of(container.image)
    if program is None:
        return
    for field in ("command", "args"):
        words = container.tree.get(field)
        # With another version to emulate, the release has the gates of that one.
        if isinstance(words, list) and not any("emulat" in str(word) for word in words):
            found = in_arguments(words, container.at.child(field))
            yield from gates(program, of_image(container.image), found)


def of_kueue(tree: Any, at: Place, version: Version | None) -> Iterator[Gate]:
    """Yields the gates in a configuration of Kueue."""
    yield from gates(KUEUE, version, in_map(mapping(tree).get(_GATES), at.child(_GATES)))


def of_release(one: DeclaredRelease) -> Iterator[Gate]:
    """Yields the gates in the values of a chart."""
    version = release(one.version)
    if one.chart == "kueue":
        yield from of_kueue_values(one.values, one.place(), version)
    elif one.chart in _CHARTS:
        written = one.values.get(_GATES)
        at = one.place(_GATES)
        found = in_list(written, at) if isinstance(written, list) else in_map(written, at)
        yield from gates(_CHARTS[one.chart], version, found)


def of_kueue_values(values: dict[str, Any], at: Place, version: Version | None) -> Iterator[Gate]:
    """Yields the gates in the values of Kueue's chart."""
    path = ("controllerManager", _GATES)
    yield from gates(KUEUE, version, in_list(mapping(values, path[0]).get(path[1]), at.child(*path)))
    written = text(values, *_MANAGER)
    inner = embedded_mapping(at.child(*_MANAGER), written) if _GATES in written else None
    if inner is not None:
        yield from of_kueue(inner.tree, Place(inner), version)
