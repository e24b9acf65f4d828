"""The precision of the computation on a device."""

from __future__ import annotations

from dataclasses import replace

import torch

from ..config import TrainerConfig


def resolve_precision(config: TrainerConfig, device: torch.device) -> TrainerConfig:
    """Returns `config` with the precision that `auto` stands for on `device`."""
    if config.precision != "auto":
        return config
    # Emulation would be slower than fp32.
    halves = device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)
    return replace(config, precision="bf16" if halves else "fp32")


def set_matmul_precision(config: TrainerConfig) -> None:
    """Sets whether fp32 matrices are multiplied in TF32, in this process."""
    torch.set_float32_matmul_precision("high" if config.tf32 else "highest")
