"""The trainer's benchmark: `python -m tests.trainer.bench`, or `make bench-trainer`."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

from tests.cluster import progress
from tests.trainer.bench.synchronisation import STEPS
from tests.trainer.launch import ENVIRONMENT


def run(name: str, *arguments: str, processes: int = 1) -> dict[str, Any]:
    """What a program of this folder measures, as many processes of one thread each."""
    torchrun = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"]
    command = [sys.executable, *(torchrun if processes > 1 else []), "-m", f"tests.trainer.bench.{name}", *arguments]
    finished = subprocess.run(command, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(finished.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Measure, and print each figure beside its peer's with their ratio."""
    table = Table("what", "of the trainer", "of its peer", "ratio", "bar")
    with progress.step("steps of two ranks, together and alone"):
        found = run("synchronisation", processes=2)
    together, alone = (STEPS / median(found[name]) for name in ("together", "alone"))
    table.add_row("steps of two ranks, the peer: without synchronisation", *_rates(together, alone), ">= 0.95")
    with tempfile.TemporaryDirectory(dir=".") as folder:
        with progress.step("saving 500 MB"):
            saved = run("checkpoint", folder)
        stall, peer = saved["stall"], saved["torch_save_durable"]
        size = f"{saved['megabytes']:.0f} MB"
        table.add_row(
            f"stall of a save of {size}, s, the peer: torch.save",
            f"{stall:.4f}",
            f"{peer:.3f}",
            f"{stall / peer:.4f}",
            "<= 0.05",
        )
        written = saved["torch_save"]
        table.add_row(
            "the same, the peer not flushed to the disk", f"{stall:.4f}", f"{written:.3f}", f"{stall / written:.4f}", ""
        )
        with progress.step("steps with a save every 10 s and without"):
            rates = run("throughput", str(Path(folder) / "run"), processes=2)
    table.add_row(
        "steps with a save every 10 s", *_rates(*(median(rates[name]) for name in ("with saves", "without"))), ">= 0.97"
    )
    console = Console()
    cores = len(os.sched_getaffinity(0))
    console.print(
        f"{platform.machine()}, {cores} processors, Python {platform.python_version()}, torch {torch.__version__}"
    )
    console.print(table)


def _rates(ours: float, peers: float) -> tuple[str, str, str]:
    return f"{ours:.3f}/s", f"{peers:.3f}/s", f"{ours / peers:.3f}"


if __name__ == "__main__":
    main()
