"""The checks of node health: `python -m tools.gpu.programs.node_health FOLDER`. It prints one JSON line."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pynvml
import yaml

from nodehealth.checks.gpu import GpuCheck
from nodehealth.checks.kernel_log import KernelLogCheck
from nodehealth.config import Gpu, KernelLog
from nodehealth.fault import CannotCheckError
from nodehealth.memory import Memory
from tools.gpu.machine import ROOT

CHART = ROOT / "charts" / "node-health"
SYSFS, KERNEL_LOG = Path("/sys"), Path("/dev/kmsg")


class Recorded:
    """The module pynvml, with a record of the functions that answered, and of those that this machine lacks."""

    def __init__(self) -> None:
        self.answered: set[str] = set()
        self.refused: dict[str, str] = {}

    def __getattr__(self, name: str) -> Any:
        found = getattr(pynvml, name)
        return self._recorded(name, found) if callable(found) and not isinstance(found, type) else found

    def _recorded(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            try:
                result = function(*arguments)
            except pynvml.NVMLError as error:
                self.refused[name] = str(error)
                raise
            self.answered.add(name)
            return result

        return call


def main(folder: Path) -> None:
    """Runs each check once, and prints what it found."""
    nvml = Recorded()
    xids = yaml.safe_load((CHART / "values.yaml").read_text())["checks"]["xid"]["xids"]
    faults, unknown = [], []
    for check in (
        GpuCheck(Gpu(), SYSFS, Memory(folder), nvml),
        KernelLogCheck(KernelLog(xids=xids), KERNEL_LOG, lambda: None),
    ):
        try:
            faults += [f"{fault.reason}: {fault.message}" for fault in check()]
        except CannotCheckError as error:
            unknown.append(str(error))
    found = {
        "gpus": pynvml.nvmlDeviceGetCount() if "nvmlInit" in nvml.answered else 0,
        "answered": ", ".join(sorted(nvml.answered)),
        "refused": "; ".join(f"{name}: {error}" for name, error in sorted(nvml.refused.items())),
        "unknown": "; ".join(unknown),
        "faults": faults,
    }
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
