"""Gradient norm and clipping across differently sharded parameters."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor
from torch.nn.utils import get_total_norm

_TINY = 1e-6  # as torch.nn.utils.clip_grad_norm_ has it


def total_norm(gradients: Sequence[Tensor]) -> float:
    """Returns the norm of all gradients, inf if not finite. Identical on all ranks; collective if they are sharded.

    `torch.nn.utils.get_total_norm` alone cannot combine gradients on different meshes, and takes one collective per
    gradient on the same mesh.
    """
    by_layout: dict[tuple[DeviceMesh, tuple[bool, ...]] | None, list[Tensor]] = defaultdict(list)
    for gradient in gradients:
        by_layout[_layout(gradient)].append(local_tensor(gradient))
    square = sum(_square_norm(parts, over) for over, parts in by_layout.items())
    return math.sqrt(square) if math.isfinite(square) else math.inf


def scale_gradients(gradients: Sequence[Tensor], factor: float) -> None:
    """Multiplies all gradients by `factor`, in place."""
    if factor != 1.0 and gradients:
        torch._foreach_mul_([local_tensor(gradient) for gradient in gradients], factor)


def clip_factor(norm: float, largest: float) -> float:
    """Returns the factor that reduces gradients of this norm to `largest`; 0 means no limit."""
    return min(1.0, largest / (norm + _TINY)) if largest else 1.0


def local_tensor(tensor: Tensor) -> Tensor:
    """Returns this rank's shard of the tensor."""
    return tensor.to_local() if isinstance(tensor, DTensor) else tensor


def _layout(gradient: Tensor) -> tuple[DeviceMesh, tuple[bool, ...]] | None:
    """Returns the gradient's mesh, and for each of its dimensions whether every rank has the full tensor."""
    if not isinstance(gradient, DTensor):
        return None
    return gradient.device_mesh, tuple(placement.is_replicate() for placement in gradient.placements)


def _square_norm(parts: Sequence[Tensor], over: tuple[DeviceMesh, tuple[bool, ...]] | None) -> float:
    square = get_total_norm(parts) ** 2
    if over:
        mesh, is_replicated = over
        for dimension in range(mesh.ndim):
            if not is_replicated[dimension]:
                dist.all_reduce(square, group=mesh.get_group(dimension))
    return float(square)


__all__ = ["clip_factor", "local_tensor", "scale_gradients", "total_norm"]
