"""The node selector asks for an accelerator by a name that GKE does not use, so no node fits and none is created.

GKE names accelerators in its own way: `nvidia-tesla-t4` and `nvidia-tesla-a100` keep "tesla", newer ones such as
`nvidia-l4` and `nvidia-h100-80gb` do not, and TPUs v5e are `tpu-v5-lite-podslice`. The pod stays Pending, with "node(s)
didn't match Pod's node affinity/selector", and the autoscaler adds no node.

The rule knows the labels `cloud.google.com/gke-accelerator` and `cloud.google.com/gke-tpu-accelerator`. It reports
names of an accelerator that it knows, and no others, since GKE gets new ones.

Write the name that the message shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.analysis.pods.placement import required_values
from trainyard.document.lookup import text
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.model.run import Pod

_GPU, _TPU = "cloud.google.com/gke-accelerator", "cloud.google.com/gke-tpu-accelerator"
_NAMES = {
    _GPU: (
        "nvidia-tesla-t4", "nvidia-tesla-p4", "nvidia-tesla-p100", "nvidia-tesla-v100", "nvidia-tesla-k80",
        "nvidia-tesla-a100", "nvidia-a100-80gb", "nvidia-l4", "nvidia-h100-80gb", "nvidia-h100-mega-80gb",
        "nvidia-h200-141gb", "nvidia-b200", "nvidia-gb200",
    ),
    _TPU: (
        "tpu-v3-device", "tpu-v3-slice", "tpu-v4-podslice", "tpu-v4-lite-device", "tpu-v5-lite-device",
        "tpu-v5-lite-podslice", "tpu-v5p-slice", "tpu-v6e-slice", "tpu-v6e-device",
    ),
}  # fmt: skip
_MODEL = {
    _GPU: re.compile(r"(?i)(?:.*[-_ ])?(k80|p4|p100|v100|t4|l4|a100|h100|h200|b200|gb200)(?:[-_ ].*)?"),
    _TPU: re.compile(r"(?i)(?:tpu-?)?(v[3456][a-z]?)(?:-.*)?"),
}
# Other names of the same accelerators.
_MEANT = {"v5e": "tpu-v5-lite-podslice", "a100": "nvidia-tesla-a100"}


@rule(
    code="TP027",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "cloud.google.com/kubernetes-engine/docs/how-to/gpus: values of cloud.google.com/gke-accelerator",
        "cloud.google.com/kubernetes-engine/docs/concepts/plan-tpus: values of cloud.google.com/gke-tpu-accelerator",
    ),
    needs=(_GPU, _TPU),
)
def accelerator_unknown(pod: Pod) -> Iterator[Problem]:
    """Report names of accelerators that nodes of GKE do not have."""
    for label, names in _NAMES.items():
        selected = [(text(pod.tree, "nodeSelector", label), pod.at.child("nodeSelector", label))]
        for value, at in (*selected, *required_values(pod, (label,))):
            found = _MODEL[label].fullmatch(value)
            # Virtual workstations and shared nodes have longer names. Words in capitals are replaced.
            if value in names or found is None or re.search(r"[$<{]|vws|\A[A-Z0-9]+(?:_[A-Z0-9]+)+\Z", value):
                continue
            model = found[1].lower()
            fitting = [name for name in names if model in name.split("-")]
            near = closest_match(value, fitting, 0.8) or _MEANT.get(model) or next(iter(fitting), None)
            yield Problem(
                at,
                f"no node of GKE has the accelerator `{value}`: the pod stays Pending",
                f"write `{near}`" if near else f"write one of {', '.join(names)}",
            )
