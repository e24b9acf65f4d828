"""AdamW and its initial state."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor

from ..config import OptimizationConfig

MOMENTS = ("exp_avg", "exp_avg_sq")


def adamw(
    parameters: Mapping[str, nn.Parameter], undecayed: Collection[str], config: OptimizationConfig
) -> torch.optim.AdamW:
    """Creates AdamW with one fused group for each device mesh, and for parameters that do not decay.

    The state exists from the start, not only after the first step, so that it can be saved or loaded at any time.
    """
    groups: dict[tuple[DeviceMesh | None, bool], list[nn.Parameter]] = defaultdict(list)
    for name, parameter in parameters.items():
        mesh = parameter.device_mesh if isinstance(parameter, DTensor) else None
        groups[mesh, name not in undecayed].append(parameter)
    optimizer = torch.optim.AdamW(
        [_group(group, config, decays=decays) for (_, decays), group in groups.items()], **settings(config)
    )
    for group in groups.values():
        for parameter in group:
            optimizer.state[parameter] = initial_state(parameter)
    return optimizer


def settings(config: OptimizationConfig) -> dict[str, Any]:
    """Returns the arguments of `torch.optim.AdamW`."""
    return {
        "lr": config.learning_rate,
        "betas": (config.adam_beta1, config.adam_beta2),
        "eps": config.adam_eps,
        "weight_decay": config.weight_decay,
        "fused": True,
    }


def parameter_groups(model: nn.Module, config: OptimizationConfig) -> list[dict[str, Any]]:
    """Returns the groups of a model that is not sharded yet: parameters that decay, and the others if there are any."""
    undecayed = undecayed_parameters(model, config)
    groups: dict[bool, list[nn.Parameter]] = defaultdict(list)
    for name, parameter in model.named_parameters():
        groups[name not in undecayed].append(parameter)
    return [_group(group, config, decays=decays) for decays, group in groups.items()]


def undecayed_parameters(model: nn.Module, config: OptimizationConfig) -> frozenset[str]:
    """Returns the names of the parameters without weight decay."""
    if config.weight_decay_scope == "all":
        return frozenset()
    return frozenset(
        f"{prefix}.{name}" if prefix else name
        for prefix, module in model.named_modules()
        for name, parameter in module.named_parameters(recurse=False)
        if parameter.dim() < 2 or isinstance(module, nn.Embedding)
    )


def initial_state(parameter: Tensor) -> dict[str, Tensor]:
    """Returns the state of a parameter before its first step."""
    step = torch.zeros((), device=parameter.device)
    return {"step": step} | {moment: torch.zeros_like(parameter) for moment in MOMENTS}


def _group(parameters: list[nn.Parameter], config: OptimizationConfig, *, decays: bool) -> dict[str, Any]:
    return {"params": parameters, "weight_decay": config.weight_decay if decays else 0.0}
