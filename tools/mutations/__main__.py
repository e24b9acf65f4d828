"""`python -m tools.mutations`, or `make mutations`: the share of one-line changes that the tests find."""

from __future__ import annotations

import random
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import track

from tools.mutations import trial
from tools.mutations.mutants import draw
from tools.mutations.targets import Target, targets

console = Console(soft_wrap=True)


def command(
    count: Annotated[int, typer.Option(min=1, help="Number of changes.")] = 100,
    seed: Annotated[int | None, typer.Option(help="Seed of the draws, to repeat them. Default: a random one.")] = None,
    least: Annotated[int, typer.Option(min=0, max=100, help="Percentage that the tests have to find.")] = 90,
) -> None:
    """Change one line of a copy of the code at a time, and run the tests of its module.

    The changes that no test finds are shown. The status is 1 if they are too many.
    """
    seed = random.SystemRandom().randrange(1 << 32) if seed is None else seed
    known = list(targets())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        trial.copy(folder)
        _check_tests(known, folder)
        found, mutants = 0, list(draw(known, count, seed))
        for mutant in track(mutants, f"seed {seed}", console=console):
            if trial.survives(mutant, folder):
                console.print(mutant.difference(), markup=False)
            else:
                found += 1
    console.print(f"the tests find {found} of {len(mutants)} changes")
    sys.exit(1 if found * 100 < least * len(mutants) else 0)


def _check_tests(known: list[Target], folder: Path) -> None:
    """Ends the program if tests fail without a change."""
    for target in known:
        try:
            trial.check(target, folder)
        except trial.TestsFailError as error:
            console.print(str(error), markup=False)
            sys.exit("These tests fail without any change of the code. Mend them first.")


if __name__ == "__main__":
    typer.run(command)
