"""GPUs: peak rates, memory and links, from `hardware.csv`, which names the source of each."""

from __future__ import annotations

from typing import NamedTuple

from trainyard.commands.plan import tables
from trainyard.commands.plan.errors import PlanError

DTYPES = ("bf16", "fp16", "fp8", "tf32", "fp32")


class Gpu(NamedTuple):
    """A GPU. Rates are per second, of dense operations; `link` is what it sends within its node, in one direction.

    `matmul` is the share of the peak that the best matrix multiplication reaches.
    """

    name: str
    peaks: dict[str, float]
    memory: float
    memory_rate: float
    link: float
    matmul: float
    source: str

    def peak(self, dtype: str) -> float:
        """Returns the peak in operations per second. Raises `PlanError` if the GPU lacks the type."""
        found = self.peaks.get(dtype)
        if found is None:
            raise PlanError(f"{self.name} has no {dtype}; name another type, as --dtype {' or '.join(self.peaks)}")
        return found


def gpu_names() -> tuple[str, ...]:
    """Returns the names of all known GPUs."""
    return tables.names("hardware")


def gpu_of(name: str) -> Gpu:
    """Returns the GPU with this name. Raises `PlanError`."""
    row = tables.row("hardware", name, "GPU")
    return Gpu(
        name=name,
        peaks={dtype: float(row[dtype]) * 1e12 for dtype in DTYPES if row[dtype]},
        memory=float(row["memory_gb"]) * 1e9,
        memory_rate=float(row["memory_tbps"]) * 1e12,
        link=float(row["link_gbps"]) * 1e9,
        matmul=float(row["matmul"]),
        source=row["source"],
    )


def name_of_label(label: str) -> str | None:
    """Returns the name of the GPU with this `nvidia.com/gpu.product` label; a suffix such as -SHARED is ignored."""
    for row in tables.rows("hardware"):
        if row["label"] and label.startswith(row["label"]):
            return row["name"]
    return None
