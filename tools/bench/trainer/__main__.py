"""The trainer's benchmark: `python -m tests.trainer.bench`, or `make bench-trainer`."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import torch
import typer
from rich.console import Console
from rich.table import Table

from tests import markdown, measured
from tests.cluster import progress
from tests.cluster.command import exit_status
from tests.cluster.errors import ClusterError
from tests.trainer.bench import network
from tests.trainer.bench.link import SIZE
from tests.trainer.launch import ENVIRONMENT

PAGE = Path("docs/trainer/speed.md")
COLUMNS = ("what", "ours", "its peer", "", "ratio", "bar")


@dataclass(frozen=True)
class Figure:
    """A figure of ours and that of its peer, both in `unit`; `bar` says what their ratio ought to be."""

    what: str
    ours: float
    peer: float
    unit: str
    bar: str = ""

    @property
    def row(self) -> tuple[str, ...]:
        """As in `COLUMNS`."""
        return (self.what, f"{self.ours:.4g}", f"{self.peer:.4g}", self.unit, f"{self.ours / self.peer:.3f}", self.bar)


def run(name: str, *arguments: object, processes: int = 1) -> dict[str, Any]:
    """What a program of this folder measures, as many processes of one thread each."""
    torchrun = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"]
    module = ["-m", f"tests.trainer.bench.{name}", *map(str, arguments)]
    command = [sys.executable, *(torchrun if processes > 1 else []), *module]
    finished = subprocess.run(command, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(finished.stdout.splitlines()[-1])
    return found


def synchronisation() -> Iterator[Figure]:
    """Two ranks in step, and the same ranks each for itself."""
    for samples, bar in ((8, ""), (32, ">= 0.95")):
        rates = run("synchronisation", samples, processes=2)
        what = f"steps of two ranks with {samples} samples each; without synchronisation"
        yield Figure(what, median(rates["together"]), median(rates["alone"]), "steps/s", bar)


def checkpoint() -> Iterator[Figure]:
    """What a save costs the training."""
    with tempfile.TemporaryDirectory(dir=".") as folder:
        found = run("checkpoint", folder)
    size = f"{found['megabytes']:.0f} MB"
    yield Figure(f"stall by a save of {size}; torch.save", found["stall"], found["torch_save"], "s", "<= 0.05")
    yield Figure("the same; torch.save and fsync", found["stall"], found["torch_save_durable"], "s")


def throughput() -> Iterator[Figure]:
    """Training with saves and without."""
    with tempfile.TemporaryDirectory(dir=".") as folder:
        found = run("throughput", folder, processes=2)
    with_saves, without = median(found["with saves"]), median(found["without"])
    yield Figure("steps with a save every 10 s; without saves", with_saves, without, "steps/s", ">= 0.97")


def between_pods() -> Iterator[Figure]:
    """An all-reduce of two pods and plain TCP between them."""
    rates = {name: SIZE / 1e6 / median(seconds) for name, seconds in network.measure().items()}
    for what, name in (("", "all_reduce"), (", in DDP's buckets", "buckets")):
        ours = f"all-reduce of {SIZE >> 20} MiB by gloo between two pods{what}"
        yield Figure(f"{ours}; TCP, both ways at once", rates[name], rates["both_ways"], "MB/s", ">= 0.6")
        yield Figure("the same; TCP, one way alone", rates[name], rates["one_way"], "MB/s")


BENCHES: dict[str, Callable[[], Iterator[Figure]]] = {
    "synchronisation": synchronisation,
    "checkpoint": checkpoint,
    "throughput": throughput,
    "network": between_pods,
}


def command(
    names: Annotated[list[str] | None, typer.Argument(help="Only these; then the page stays as it is.")] = None,
) -> None:
    """Measure the trainer, each figure beside its peer's, and write the page of the documentation."""
    if wrong := set(names or []) - set(BENCHES):
        raise ClusterError(f"there is no benchmark {', '.join(wrong)}", hint=f"one of {', '.join(BENCHES)}")
    rows = []
    for name in names or BENCHES:
        with progress.step(name):
            rows += [figure.row for figure in BENCHES[name]()]
    table = Table(*COLUMNS)
    for row in rows:
        table.add_row(*row)
    Console().print(table)
    if not names:
        versions = (f"Python {platform.python_version()}", f"torch {torch.__version__}")
        where = measured.where(*versions, command="make bench-trainer")
        measured.write(PAGE, [where, "", *markdown.table(COLUMNS, rows)])


if __name__ == "__main__":
    sys.exit(exit_status(lambda: typer.run(command)))
