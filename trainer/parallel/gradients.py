"""Gradients that are too large, scaled down together."""

import math
from collections import defaultdict
from collections.abc import Sequence

import torch.distributed as dist
from torch import Tensor
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor
from torch.nn.utils import get_total_norm

_TINY = 1e-6  # as torch.nn.utils.clip_grad_norm_ has it


def norm_of(gradients: Sequence[Tensor]) -> float:
    """The norm of all gradients together, inf if one is no number. The same on all ranks; collective if sharded.

    Not `torch.nn.utils.get_total_norm` alone: it cannot add up gradients that are spread over different ranks, and over
    the same ranks it takes a collective for each gradient.
    """
    spread: dict[tuple[DeviceMesh, tuple[bool, ...]] | None, list[Tensor]] = defaultdict(list)
    for gradient in gradients:
        spread[_spread(gradient)].append(local(gradient))
    square = sum(_square_norm(parts, over) for over, parts in spread.items())
    return math.sqrt(square) if math.isfinite(square) else math.inf


def multiply(gradients: Sequence[Tensor], factor: float) -> None:
    """Multiplies all of them, in place."""
    if factor != 1.0:
        for gradient in gradients:
            local(gradient).mul_(factor)


def factor_within(norm: float, largest: float) -> float:
    """What brings gradients of this norm down to `largest`, 0 being no limit."""
    return min(1.0, largest / (norm + _TINY)) if largest else 1.0


def local(tensor: Tensor) -> Tensor:
    """This rank's part of it."""
    return tensor.to_local() if isinstance(tensor, DTensor) else tensor


def _spread(gradient: Tensor) -> tuple[DeviceMesh, tuple[bool, ...]] | None:
    """Over which ranks, and along which dimensions of their mesh every rank has the whole."""
    if not isinstance(gradient, DTensor):
        return None
    return gradient.device_mesh, tuple(placement.is_replicate() for placement in gradient.placements)


def _square_norm(parts: Sequence[Tensor], over: tuple[DeviceMesh, tuple[bool, ...]] | None) -> float:
    square = get_total_norm(parts) ** 2
    if over:
        mesh, whole = over
        for dimension in range(mesh.ndim):
            if not whole[dimension]:
                dist.all_reduce(square, group=mesh.get_group(dimension))
    return float(square)


__all__ = ["factor_within", "local", "multiply", "norm_of"]
