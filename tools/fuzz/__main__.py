"""`python -m tools.fuzz`, or `make fuzz`: random inputs, none of which may end or delay the linter."""

from __future__ import annotations

import importlib
import itertools
import pkgutil
import random
import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import track

import trainyard
from tools.fuzz import apart, families, inputs, judge

console = Console(soft_wrap=True)


def command(
    count: Annotated[int, typer.Option(min=1, help="Number of inputs.")] = 10_000,
    seed: Annotated[int | None, typer.Option(help="Seed of the draws, to repeat them. Default: a random one.")] = None,
    output: Annotated[Path, typer.Option(help="Folder for the inputs that broke a promise.")] = Path("build/fuzz"),
) -> None:
    """Lint random changes of the files of this repository.

    Each takes at most one second of processor time for each MiB begun, without the imports, and 256 MiB, and ends with
    a verdict. A short file has a second too. The inputs of families that were once too slow come first. The status is 1
    if an input broke a promise.
    """
    seed = random.SystemRandom().randrange(1 << 32) if seed is None else seed
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    _import_linter()
    faults, slowest, largest = 0, 0.0, 0.0
    file, said = output / "input.yaml", output / "said.txt"
    every = apart.apart(itertools.chain(families.seeds(inputs.MOST_BYTES), inputs.draw(count, seed)))
    count += len(families.FAMILIES)
    for number, (made, content) in enumerate(track(every, f"seed {seed}", total=count, console=console)):
        file.write_bytes(content)
        verdict = judge.judge(file, said)
        slowest, largest = max(slowest, verdict.seconds), max(largest, verdict.mib)
        if verdict.fault:
            faults += 1
            kept = file.rename(output / f"{number}.yaml")
            console.print(f"{kept} ({len(content)} bytes, {made}): {verdict.fault}", markup=False)
    console.print(
        f"{faults} of {count} inputs broke a promise; the slowest took {slowest:.2f} s, the largest {largest:.0f} MiB"
    )
    sys.exit(1 if faults else 0)


def _import_linter() -> None:
    """Imports what any input may need, so that no input pays for it."""
    for module in pkgutil.walk_packages(trainyard.__path__, "trainyard."):
        if not module.name.startswith(("trainyard.commands.audit", "trainyard.__main__")):
            importlib.import_module(module.name)


if __name__ == "__main__":
    typer.run(command)
