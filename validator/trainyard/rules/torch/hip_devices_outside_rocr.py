"""HIP_VISIBLE_DEVICES selects a GPU that ROCR_VISIBLE_DEVICES hides, so the process finds fewer GPUs, or none.

ROCm filters twice: `ROCR_VISIBLE_DEVICES` leaves the GPUs that it lists, and numbers them from 0 again. Then
`HIP_VISIBLE_DEVICES`, or `CUDA_VISIBLE_DEVICES` in its place, selects among those by the new numbers. With the value
1 in both, one GPU is left, which is number 0, and number 1 is none: PyTorch ends with "No HIP GPUs are available".

Set one of the variables.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import decimal
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Container

_LEFT = "ROCR_VISIBLE_DEVICES"
_SELECTED = ("HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES")


@rule(
    code="TD095",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "https://rocm.docs.amd.com/en/latest/conceptual/gpu-isolation.html",
        "github.com/Parsl/parsl issue 3858, github.com/mcmonkeyprojects/SwarmUI issue 565",
    ),
    needs=(_LEFT,),
)
def hip_devices_outside_rocr(container: Container) -> Iterator[Problem]:
    """Report numbers of GPUs that are not left."""
    left = container.setting(_LEFT)
    selected = next((one for one in map(container.setting, _SELECTED) if one is not None), None)
    if left is None or selected is None or not left.value or not selected.value:
        return
    count = len([one for one in left.value.split(",") if one.strip()])
    numbers = [decimal(one.strip()) for one in selected.value.split(",")]
    outside = [one for one in numbers if one is not None and one >= count]
    if count and outside and None not in numbers:
        yield Problem(
            selected.at,
            f"{selected.name} counts only the GPUs that {_LEFT} leaves ({count}), from 0: there is no GPU {outside[0]}",
            f"remove {selected.name}, or {_LEFT}",
            related=((left.at, f"{count} left"),),
        )
