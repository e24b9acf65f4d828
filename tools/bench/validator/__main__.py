"""The benchmark's command line: `python -m tools.bench.validator`, or `make bench`."""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.harness.cluster import progress
from tools.bench.validator import corpus, peers, timing

MANY = 1_000
VERY_MANY = 10_000


def main() -> None:
    """Measure, and print a table with the ratio of each measurement to ours."""
    console = Console()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cache = folder / "cache"
        table = Table("files", "what", "seconds", "ratio of trainyard to it", "memory")
        with progress.step("one file"):
            _compare(table, "1", corpus.write(folder / "one", 1), cache, rounds=15)
        with progress.step(f"{MANY} files"):
            _compare(table, f"{MANY:,}", corpus.write(folder / "many", MANY), cache, rounds=9, slow=True)
        with progress.step(f"{VERY_MANY} files, and again with one changed"):
            _again(table, folder / "very-many", cache)
    console.print(
        f"{platform.machine()}, {len(os.sched_getaffinity(0))} processors, Python {platform.python_version()}"
    )
    console.print(table)


def _compare(table: Table, files: str, paths: list[Path], cache: Path, *, rounds: int, slow: bool = False) -> None:
    names = [str(path) for path in paths]
    quick = [peers.trainyard(), peers.kubeconform(), peers.schema_only()]
    if slow:
        quick.append(peers.trainyard("--auditor"))
    found = timing.best_of(quick, names, cache, rounds, before=lambda: shutil.rmtree(cache, ignore_errors=True))
    if slow:
        found |= timing.best_of([peers.yamllint()], names, cache, 1)
        quick.append(peers.yamllint())
    ours = found[quick[0].name].seconds
    for peer in quick:
        measure = found[peer.name]
        what = f"{peer.name} {peer.version}"
        table.add_row(files, what, f"{measure.seconds:.3f}", f"{ours / measure.seconds:.2f}", _memory(measure))


def _again(table: Table, folder: Path, cache: Path) -> None:
    paths = corpus.write(folder, VERY_MANY)
    command = [*peers.trainyard().command, str(folder)]
    colds = []
    for _ in range(3):
        shutil.rmtree(cache, ignore_errors=True)
        colds.append(timing.measure(command, cache))
    cold = min(colds)
    table.add_row(f"{VERY_MANY:,}", "trainyard lint, cold", f"{cold.seconds:.3f}", "1.00", _memory(cold))
    warm = []
    for number in range(7):
        paths[number].write_text(corpus.job(VERY_MANY + number), encoding="utf-8")
        warm.append(timing.measure(command, cache))
    best = min(warm)
    ratio = f"{best.seconds / cold.seconds:.3f} of the cold run"
    table.add_row(f"{VERY_MANY:,}", "trainyard lint, one changed", f"{best.seconds:.3f}", ratio, _memory(best))


def _memory(measure: timing.Measurement) -> str:
    return f"{measure.mebibytes:.0f} MiB"


if __name__ == "__main__":
    main()
