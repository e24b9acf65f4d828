"""The trainer's benchmark: `python -m tools.bench.trainer`, or `make bench-trainer`."""

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

from tests.harness.cluster import progress
from tests.harness.cluster.command import exit_status
from tests.harness.cluster.errors import ClusterError
from tests.harness.trainer.environment import ENVIRONMENT
from tools import markdown, results_page
from tools.bench.trainer import network
from tools.bench.trainer.link import SIZE

PAGE = Path("docs/trainer/speed.md")
COLUMNS = ("what", "ours", "its peer", "", "ratio", "bar")


@dataclass(frozen=True)
class Figure:
    """A measurement of ours and of its peer in `unit`; `bar` is the target for their ratio."""

    what: str
    ours: float
    peer: float
    unit: str
    bar: str = ""

    @property
    def row(self) -> tuple[str, ...]:
        """The row for `COLUMNS`."""
        return (self.what, f"{self.ours:.4g}", f"{self.peer:.4g}", self.unit, f"{self.ours / self.peer:.3f}", self.bar)


def run(name: str, *arguments: object, processes: int = 1) -> dict[str, Any]:
    """Run a program of this folder with as many processes of one thread each, and return its measurements."""
    torchrun = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"]
    module = ["-m", f"tools.bench.trainer.{name}", *map(str, arguments)]
    command = [sys.executable, *(torchrun if processes > 1 else []), *module]
    finished = subprocess.run(command, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(finished.stdout.splitlines()[-1])
    return found


def synchronisation() -> Iterator[Figure]:
    """Compare two ranks in step with the same ranks without synchronisation."""
    for samples, bar in ((8, ""), (32, ">= 0.95")):
        rates = run("synchronisation", samples, processes=2)
        what = f"steps of two ranks with {samples} samples each; without synchronisation"
        yield Figure(what, median(rates["together"]), median(rates["alone"]), "steps/s", bar)


def checkpoint() -> Iterator[Figure]:
    """Measure the cost of a save for training."""
    with tempfile.TemporaryDirectory(dir=".") as folder:
        found = run("checkpoint", folder)
    size = f"{found['megabytes']:.0f} MB"
    yield Figure(f"stall by a save of {size}; torch.save", found["stall"], found["torch_save"], "s", "<= 0.05")
    yield Figure("the same; torch.save and fsync", found["stall"], found["torch_save_durable"], "s")


def throughput() -> Iterator[Figure]:
    """Compare training with and without saves."""
    with tempfile.TemporaryDirectory(dir=".") as folder:
        found = run("throughput", folder, processes=2)
    with_saves, without = median(found["with saves"]), median(found["without"])
    yield Figure("steps with a save every 10 s; without saves", with_saves, without, "steps/s", ">= 0.97")


def between_pods() -> Iterator[Figure]:
    """Compare an all-reduce of two pods with plain TCP between them."""
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
    names: Annotated[
        list[str] | None, typer.Argument(help="Run only these benchmarks; the page stays as it is.")
    ] = None,
) -> None:
    """Measure the trainer beside its peers, and write the documentation page."""
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
        where = results_page.environment(*versions, command="make bench-trainer")
        results_page.write(PAGE, [where, "", *markdown.table(COLUMNS, rows)])


if __name__ == "__main__":
    sys.exit(exit_status(lambda: typer.run(command)))
