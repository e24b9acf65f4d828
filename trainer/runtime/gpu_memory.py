"""GPU memory of this process."""

from __future__ import annotations

import torch


def gpu_memory(device: torch.device) -> dict[str, float]:
    """Returns the peak of the memory of tensors since the start, and the memory that PyTorch holds for them, in bytes.

    Empty without a GPU. CUDA and NCCL need more, which PyTorch does not know of.
    """
    if device.type != "cuda":
        return {}
    found = torch.cuda.memory_stats(device)
    return {
        "gpu_peak_bytes": float(found.get("allocated_bytes.all.peak", 0)),
        "gpu_reserved_bytes": float(found.get("reserved_bytes.all.current", 0)),
    }
