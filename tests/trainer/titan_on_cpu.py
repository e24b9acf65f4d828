"""Runs a program of torchtitan on CPUs: `python titan_on_cpu.py PROGRAM ARGUMENTS...`.

torchtitan asks the accelerator for its name, its number and its memory, and takes operations that PyTorch has for GPUs
alone. Here torch.cpu answers, and the operations are replaced by slower ones with the same result.
"""

from __future__ import annotations

import os
import runpy
import sys
import types
from typing import Any

# FlexAttention computes gradients on CPUs only if it is not compiled.
os.environ["TORCHDYNAMO_DISABLE"] = "1"

import torch
from torch.distributed.fsdp import FSDPModule
from torch.nn.attention import flex_attention
from torchtitan.config import TrainingConfig


def answer_as_an_accelerator() -> None:
    """Gives torch.cpu what torchtitan asks of a device."""
    answers: dict[str, Any] = {
        "current_device": 0,
        "empty_cache": None,
        "get_device_name": "CPU",
        "get_device_properties": types.SimpleNamespace(total_memory=1 << 30),
        "memory_stats": {},
        "reset_peak_memory_stats": None,
    }
    for name, value in answers.items():
        setattr(torch.cpu, name, lambda *_, value=value: value)
    torch._utils._get_available_device_type = lambda: "cpu"


def sum_gradients() -> None:
    """Makes FSDP sum gradients and divide them afterwards. gloo has no sum of scaled gradients."""
    set_factor = FSDPModule.set_gradient_divide_factor

    def set_and_sum(self: FSDPModule, factor: float) -> None:
        set_factor(self, factor)
        self.set_force_sum_reduction_for_comms(True)

    FSDPModule.set_gradient_divide_factor = set_and_sum  # type: ignore[method-assign]


def train_in_fp32() -> None:
    """Changes the default of torchtitan, bf16: gloo of PyTorch 2.14 does not exchange it."""
    TrainingConfig.__init__.__kwdefaults__["mixed_precision_param"] = "float32"


if __name__ == "__main__":
    answer_as_an_accelerator()
    sum_gradients()
    train_in_fp32()
    flex_attention._validate_device = lambda *_: None
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")
