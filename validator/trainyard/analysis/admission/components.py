"""Conditions of the kubelet and of the scheduler on their configurations.

Source: kubernetes v1.29.15 and v1.37.2 pkg/kubelet/apis/config/validation/validation.go and
pkg/scheduler/apis/config/validation/validation.go: a row is a condition of both releases.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.admission.constraints import Check, Refused, Row, asking_for, is_known, unique, within
from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text

_VALIDATION = "ValidateKubeletConfiguration"
_WORDS: dict[str, tuple[str, ...]] = {
    "configMapAndSecretChangeDetectionStrategy": ("Get", "Cache", "Watch"),
    "cpuManagerPolicy": ("none", "static"),
    "hairpinMode": ("promiscuous-bridge", "hairpin-veth", "none"),
    "memoryManagerPolicy": ("None", "Static"),
    "topologyManagerPolicy": ("none", "best-effort", "restricted", "single-numa-node"),
    "topologyManagerScope": ("container", "pod"),
}
_ENFORCED = ("none", "pods", "system-reserved", "kube-reserved", "system-reserved-compressible",
             "kube-reserved-compressible")  # fmt: skip
# The lowest and the highest value of a number.
_BOUNDS: dict[str, tuple[int, int | None]] = {
    "eventBurst": (0, None),
    "eventRecordQPS": (0, None),
    "healthzPort": (0, 65535),
    "imageGCHighThresholdPercent": (0, 100),
    "imageGCLowThresholdPercent": (0, 100),
    "kubeAPIBurst": (0, None),
    "maxOpenFiles": (0, None),
    "maxParallelImagePulls": (1, None),
    "maxPods": (0, None),
    "nodeLeaseDurationSeconds": (0, None),
    "nodeStatusMaxImages": (-1, None),
    "oomScoreAdj": (-1000, 1000),
    "podsPerCore": (0, None),
    "readOnlyPort": (0, 65535),
    "registryBurst": (0, None),
    "registryPullQPS": (0, None),
}


def _among(name: str, values: tuple[str, ...]) -> Check:
    """A text is one of these."""

    @asking_for(name)
    def check(tree: Any, at: Place) -> Iterator[Refused]:
        value = text(tree, name)
        if value and value not in values and is_known(value):
            yield Refused(at.child(name), f"`{name}` has no value `{value}`", f"write one of {', '.join(values)}")

    return check


@asking_for("imageGCHighThresholdPercent", "imageGCLowThresholdPercent")
def _thresholds(tree: Any, at: Place) -> Iterator[Refused]:
    high, low = (
        mapping(tree).get(f"imageGC{one}ThresholdPercent", usual) for one, usual in (("High", 85), ("Low", 80))
    )
    if isinstance(high, int) and isinstance(low, int) and low >= high:
        name = "imageGCLowThresholdPercent" if "imageGCLowThresholdPercent" in tree else "imageGCHighThresholdPercent"
        fault = f"`imageGCLowThresholdPercent` is {low}, and not below `imageGCHighThresholdPercent`, {high}"
        yield Refused(at.child(name), fault, f"write a number below {high}")


@asking_for("maxParallelImagePulls")
def _pulls(tree: Any, at: Place) -> Iterator[Refused]:
    most = mapping(tree).get("maxParallelImagePulls")
    if isinstance(most, int) and most > 1 and mapping(tree).get("serializeImagePulls") is True:
        fault = "`serializeImagePulls` excludes a `maxParallelImagePulls` above 1"
        yield Refused(at.child("maxParallelImagePulls"), fault, "write `serializeImagePulls: false`")


@asking_for("reservedSystemCPUs")
def _reserved(tree: Any, at: Place) -> Iterator[Refused]:
    for name in ("systemReservedCgroup", "kubeReservedCgroup"):
        if mapping(tree).get("reservedSystemCPUs") and mapping(tree).get(name):
            yield Refused(at.child(name).key(), f"`reservedSystemCPUs` excludes `{name}`", "remove one of the two")


@asking_for("enforceNodeAllocatable")
def _enforced(tree: Any, at: Place) -> Iterator[Refused]:
    listed = [one for one in items(tree, "enforceNodeAllocatable") if isinstance(one, str)]
    for index, one in enumerate(listed):
        place = at.child("enforceNodeAllocatable", index)
        if one not in _ENFORCED and is_known(one):
            yield Refused(place, f"nothing enforces `{one}`", f"write one of {', '.join(_ENFORCED)}")
        elif one == "none" and len(listed) > 1:
            yield Refused(place, "`none` stands alone", "remove it, or the others")


@asking_for("evictionSoft")
def _soft(tree: Any, at: Place) -> Iterator[Refused]:
    periods = mapping(tree, "evictionSoftGracePeriod")
    for signal in mapping(tree, "evictionSoft"):
        if signal not in periods and is_known(signal):
            fault = f"the soft threshold of `{signal}` needs a grace period"
            yield Refused(at.child("evictionSoft", signal).key(), fault, "add it to `evictionSoftGracePeriod`", True)


@asking_for("profiles")
def _sorted_alike(tree: Any, at: Place) -> Iterator[Refused]:
    """All profiles sort the queue with the same plugin."""
    profiles = items(tree, "profiles")
    sorts = [[text(one, "name") for one in items(profile, "plugins", "queueSort", "enabled")] for profile in profiles]
    known = next((one for one in sorts if one), [])
    for index, (profile, own) in enumerate(zip(profiles, sorts, strict=True)):
        many = [text(one, "name") for one in items(profile, "plugins", "multiPoint", "enabled")]
        if own != known and not (not own and (many or mapping(profile, "plugins", "queueSort"))):
            place = at.child("profiles", index, *(("plugins", "queueSort") if own else ()))
            fault = f"all profiles sort the queue with one plugin, and another profile does so with {known[0]}"
            yield Refused(place.key() if own else place, fault, f"enable `{known[0]}` at `queueSort` here, too")


ROWS: dict[tuple[str, str], tuple[Row, ...]] = {
    ("kubelet.config.k8s.io", "KubeletConfiguration"): (
        *(Row("", _among(name, values), _VALIDATION) for name, values in _WORDS.items()),
        *(Row("", within(name, low, high), _VALIDATION) for name, (low, high) in _BOUNDS.items()),
        Row("authorization", _among("mode", ("AlwaysAllow", "Webhook")), "pkg/kubelet: BuildAuth"),
        Row("", _thresholds, _VALIDATION),
        Row("", _pulls, _VALIDATION),
        Row("", _reserved, _VALIDATION),
        Row("", _enforced, _VALIDATION),
        Row("", _soft, "pkg/kubelet/eviction/helpers.go: parseThresholdStatements"),
    ),
    ("kubescheduler.config.k8s.io", "KubeSchedulerConfiguration"): (
        Row("", within("parallelism", 1), "ValidateKubeSchedulerConfiguration"),
        Row("", within("percentageOfNodesToScore", 0, 100), "ValidateKubeSchedulerConfiguration"),
        Row("profiles[]", within("percentageOfNodesToScore", 0, 100), "validateKubeSchedulerProfile"),
        Row("profiles", unique("schedulerName"), "validateKubeSchedulerProfile"),
        Row("profiles[].pluginConfig", unique("name"), "validatePluginConfig: repeated config for plugin"),
        Row("", _sorted_alike, "validateCommonQueueSort"),
    ),
}
