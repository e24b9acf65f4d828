"""Peak performance of the devices, for the model FLOPs utilization (MFU)."""

from __future__ import annotations

from collections.abc import Iterable

import torch

from ..config import TrainerConfig
from ..runtime.distributed import World

# Dense bf16 (and fp16) with fp32 accumulation, in 1e12 operations per second, by the device name of the driver.
# NVIDIA's data sheets mostly state values with sparsity; these are half of those.
_PEAK_TFLOPS = {
    # https://www.nvidia.com/en-us/data-center/a100/
    "NVIDIA A100-SXM4-40GB": 312.0,
    "NVIDIA A100-SXM4-80GB": 312.0,
    "NVIDIA A100-PCIE-40GB": 312.0,
    "NVIDIA A100 80GB PCIe": 312.0,
    # https://www.nvidia.com/en-us/data-center/h100/ (SXM 1979, NVL 1671); of PCIe: "H100 Tensor Core GPU Architecture"
    "NVIDIA H100 80GB HBM3": 989.4,
    "NVIDIA H100 NVL": 835.5,
    "NVIDIA H100 PCIe": 756.0,
    # https://www.nvidia.com/en-us/data-center/h200/ (SXM 1979, NVL 1671)
    "NVIDIA H200": 989.4,
    "NVIDIA H200 NVL": 835.5,
    # https://www.nvidia.com/en-us/data-center/hgx/ (HGX B200: 36e15 with sparsity for eight)
    "NVIDIA B200": 2250.0,
    # https://www.nvidia.com/en-us/data-center/l4/ (242) and l40s/ (without sparsity)
    "NVIDIA L4": 121.0,
    "NVIDIA L40S": 362.05,
}


def peak_flops(config: TrainerConfig, world: World) -> float | None:
    """Returns the peak of all ranks' devices together, in operations per second; None if one is unknown. Collective.

    The table is not used for fp32, because a setting decides whether PyTorch multiplies in TF32. An unknown device is
    never guessed.
    """
    if config.peak_tflops:
        return config.peak_tflops * 1e12 * world.size
    name = torch.cuda.get_device_name(world.device) if world.device.type == "cuda" else world.device.type
    return total_peak_flops(world.gather(name)) if config.precision in ("bf16", "fp16") else None


def total_peak_flops(devices: Iterable[str]) -> float | None:
    """Returns the peak of `devices` together, in operations per second; None if one is unknown."""
    peaks = [_PEAK_TFLOPS.get(device) for device in devices]
    return sum(peak * 1e12 for peak in peaks if peak) if all(peaks) else None
