"""The metrics that dcgm-exporter serves by default, as the GPU operator runs it.

Source: NVIDIA/dcgm-exporter etc/dcp-metrics-included.csv and default-counters.csv at v4.8 (snapshot of 2026-05-12),
which NVIDIA/gpu-operator v26.7.0 names in assets/state-dcgm-exporter/0800_daemonset.yaml.

`dcgm_fields.csv` has the fields of DCGM 3.3.9 to 4.6.1 behind `DCGM_FI_`, also those with a former name: pkg/dcgm of
NVIDIA/go-dcgm, dcgm_fields.h and const_fields.go of all tags and of b7fa3154.
"""

from __future__ import annotations

import functools
import os

_PREFIX = "DCGM_FI_"

SERVED = frozenset(
    (
        "DCGM_FI_DEV_SM_CLOCK", "DCGM_FI_DEV_MEM_CLOCK", "DCGM_FI_DEV_MEMORY_TEMP", "DCGM_FI_DEV_GPU_TEMP",
        "DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "DCGM_FI_DEV_PCIE_REPLAY_COUNTER",
        "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_MEM_COPY_UTIL", "DCGM_FI_DEV_ENC_UTIL", "DCGM_FI_DEV_DEC_UTIL",
        "DCGM_FI_DEV_XID_ERRORS", "DCGM_FI_DEV_FB_FREE", "DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_FB_RESERVED",
        "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", "DCGM_FI_DEV_VGPU_LICENSE_STATUS",
        "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS",
        "DCGM_FI_DEV_ROW_REMAP_FAILURE", "DCGM_FI_DRIVER_VERSION", "DCGM_FI_PROF_GR_ENGINE_ACTIVE",
        "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "DCGM_FI_PROF_DRAM_ACTIVE", "DCGM_FI_PROF_PCIE_TX_BYTES",
        "DCGM_FI_PROF_PCIE_RX_BYTES",
    )
)  # fmt: skip


@functools.cache
def dcgm_fields() -> frozenset[str]:
    """Returns the names of all fields of DCGM, which dcgm-exporter serves as metrics."""
    with open(os.path.join(os.path.dirname(__file__), "dcgm_fields.csv"), encoding="utf-8") as lines:
        return frozenset(_PREFIX + line.rstrip("\n") for line in lines)
