"""The machine: its GPUs and versions. `python -m tools.gpu.machine` prints them as JSON.

Another process asks PyTorch, so that the runner itself holds no memory of a GPU.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tools.gpu.errors import GpuError

ROOT = Path(__file__).parents[2]
SECONDS = 120
# Ranks of a rehearsal without GPUs.
REHEARSAL_RANKS = 2


@dataclass(frozen=True)
class Machine:
    """A machine.

    Attributes:
        device: `cuda`, or `cpu` in a rehearsal.
        gpus: The number of GPUs that PyTorch sees.
        names: The name of each GPU.
        memory_bytes: The memory of each GPU.
        driver: The version of the driver; empty if unknown. So are the others.
        cuda: The version of CUDA that PyTorch was built for.
        nccl: The version of NCCL that PyTorch was built for.
        torch: The version of PyTorch.
        libnccl: The path of the library that PyTorch loads.
        knows_stray_contexts: True if PyTorch reads TORCH_CUDA_CHECK_STRAY_CONTEXT.
        python: The version of Python.
        system: The kernel and the architecture.
    """

    device: str
    gpus: int = 0
    names: tuple[str, ...] = ()
    memory_bytes: tuple[int, ...] = ()
    driver: str = ""
    cuda: str = ""
    nccl: str = ""
    torch: str = ""
    libnccl: str = ""
    knows_stray_contexts: bool = False
    python: str = platform.python_version()
    system: str = f"{platform.system()} {platform.release()} {platform.machine()}"

    @property
    def backend(self) -> str:
        """The backend of collectives."""
        return "nccl" if self.device == "cuda" else "gloo"

    @property
    def ranks(self) -> int:
        """The ranks of a run that uses the whole machine."""
        return self.gpus if self.device == "cuda" else REHEARSAL_RANKS


def environment(device: str, packages: Sequence[Path] = ()) -> dict[str, str]:
    """Returns the environment of the programs that a check starts, which also find the packages in these folders."""
    found = dict(os.environ)
    folders = [*map(str, packages), str(ROOT), str(ROOT / "validator"), *filter(None, [os.environ.get("PYTHONPATH")])]
    found["PYTHONPATH"] = os.pathsep.join(folders)
    if device == "cpu":
        # Threads of so small a model only wait for each other.
        found |= {"CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
    return found


def probe() -> Machine:
    """Returns this machine.

    Raises:
        GpuError: PyTorch cannot be imported, or does not answer.
    """
    command = [sys.executable, "-m", "tools.gpu.machine"]
    try:
        asked = subprocess.run(
            command,
            env=environment("cuda"),
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        message = f"PyTorch does not answer within {SECONDS} s: run `nvidia-smi`, and look for `NVRM` in `dmesg`"
        raise GpuError(message) from None
    if asked.returncode:
        last = asked.stderr.strip().splitlines()[-1:] or [f"exit status {asked.returncode}"]
        raise GpuError(f"PyTorch does not start ({last[0]}): repair the installation of torch in {sys.executable}")
    return _from_json(json.loads(asked.stdout.splitlines()[-1]))


def _from_json(values: Mapping[str, Any]) -> Machine:
    fields: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
    }
    return Machine(**fields)


def _describe() -> Machine:
    import torch

    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    properties = [torch.cuda.get_device_properties(number) for number in range(gpus)]
    return Machine(
        device="cuda" if gpus else "cpu",
        gpus=gpus,
        names=tuple(found.name for found in properties),
        memory_bytes=tuple(found.total_memory for found in properties),
        driver=_driver(),
        cuda=torch.version.cuda or "",
        nccl=".".join(map(str, torch.cuda.nccl.version())) if gpus else "",  # type: ignore[no-untyped-call]
        torch=torch.__version__,
        libnccl=_loaded_nccl(),
        knows_stray_contexts=hasattr(torch.cuda, "_check_stray_context"),
    )


def _loaded_nccl() -> str:
    found = re.search(r"/\S*libnccl\.so\S*", Path("/proc/self/maps").read_text())
    return found[0] if found else ""


def _driver() -> str:
    program = shutil.which("nvidia-smi")
    if program is None:
        return ""
    command = [program, "--query-gpu=driver_version", "--format=csv,noheader"]
    asked = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    return asked.stdout.split("\n")[0].strip() if not asked.returncode else ""


if __name__ == "__main__":
    print(json.dumps(asdict(_describe())))
