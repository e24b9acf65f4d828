"""AdamW and its initial state."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import torch
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor

MOMENTS = ("exp_avg", "exp_avg_sq")


def adamw(parameters: Iterable[nn.Parameter], learning_rate: float, weight_decay: float) -> torch.optim.AdamW:
    """Creates AdamW with one fused group for each device mesh.

    The state exists from the start, not only after the first step, so that it can be saved or loaded at any time.
    """
    groups: dict[DeviceMesh | None, list[nn.Parameter]] = defaultdict(list)
    for parameter in parameters:
        groups[parameter.device_mesh if isinstance(parameter, DTensor) else None].append(parameter)
    optimizer = torch.optim.AdamW(
        [{"params": group} for group in groups.values()], lr=learning_rate, weight_decay=weight_decay, fused=True
    )
    for group in groups.values():
        for parameter in group:
            optimizer.state[parameter] = initial_state(parameter)
    return optimizer


def initial_state(parameter: Tensor) -> dict[str, Tensor]:
    """Returns the state of a parameter before its first step."""
    step = torch.zeros((), device=parameter.device)
    return {"step": step} | {moment: torch.zeros_like(parameter) for moment in MOMENTS}
