"""AdamW, and what it remembers of each parameter."""

from collections import defaultdict
from collections.abc import Iterable

import torch
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor

MOMENTS = ("exp_avg", "exp_avg_sq")


def adamw(parameters: Iterable[nn.Parameter], learning_rate: float, weight_decay: float) -> torch.optim.AdamW:
    """One kernel changes all parameters that are spread over the same ranks.

    It remembers from the start what it otherwise would after its first step: a state to save, or to load into.
    """
    groups: dict[DeviceMesh | None, list[nn.Parameter]] = defaultdict(list)
    for parameter in parameters:
        groups[parameter.device_mesh if isinstance(parameter, DTensor) else None].append(parameter)
    optimizer = torch.optim.AdamW(
        [{"params": group} for group in groups.values()], lr=learning_rate, weight_decay=weight_decay, fused=True
    )
    for group in groups.values():
        for parameter in group:
            optimizer.state[parameter] = nothing_yet(parameter)
    return optimizer


def nothing_yet(parameter: Tensor) -> dict[str, Tensor]:
    """What AdamW knows of a parameter before its first step."""
    step = torch.zeros((), device=parameter.device)
    return {"step": step} | {moment: torch.zeros_like(parameter) for moment in MOMENTS}
