"""`python -m tools.torch_versions`, or `make torch-versions`: which PyTorch reads the checkpoints of which."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import typer

from tests.harness.cluster import progress
from tests.harness.cluster.command import exit_status
from tests.harness.cluster.errors import ClusterError
from tools import markdown, results_page
from tools.torch_versions import installs, trials
from tools.torch_versions.trials import Ended

PAGE = Path("docs/trainer/torch-versions.md")
# Checkpoints of older releases, which a test reads with the pinned one.
KEPT = Path("tests/trainer/older_checkpoints")


def command() -> None:
    """Write a checkpoint with each release and continue from it with each release; write the table."""
    releases = (*installs.OLDER, installs.pinned())
    pythons = {release: installs.install(release) for release in releases}
    rows = []
    for strategy in trials.STRATEGIES:
        for writer in releases:
            with progress.step(f"{strategy}: checkpoints of PyTorch {writer}"):
                rows.append([strategy, writer, *_cells(strategy, writer, pythons)])
    columns = ("strategy", "written by", *(f"read by {release}" for release in releases))
    where = results_page.environment(command="make torch-versions")
    results_page.write(PAGE, [where, "", *markdown.table(columns, rows)])
    for release in installs.OLDER:
        _keep(release)


def _cells(strategy: str, writer: str, pythons: dict[str, Path]) -> Iterator[str]:
    written = _folder(writer, strategy)
    begun = trials.write(pythons[writer], strategy, written)
    if begun.error:
        raise ClusterError(f"PyTorch {writer} wrote no checkpoint with {strategy}: {begun.error}")
    own = trials.read(pythons[writer], strategy, written, written.with_name("own"))
    for reader, python in pythons.items():
        read = own if reader == writer else trials.read(python, strategy, written, written.with_name(reader))
        yield _verdict(read, own)


def _verdict(read: Ended, own: Ended) -> str:
    if "use an image with PyTorch" in read.error:
        return "refused"
    if read.error or own.error:
        return (read.error or own.error).removeprefix("trainer: error: ")
    expected = list(range(trials.SAVED + 1, trials.LAST + 1))
    if list(read.losses) != expected:
        return f"steps {list(read.losses)}"
    differences = [abs(read.losses[step] - own.losses[step]) / own.losses[step] for step in expected]
    return "same losses" if not any(differences) else f"losses within {max(differences):.0e}"


def _folder(release: str, strategy: str) -> Path:
    return installs.FOLDER / "checkpoints" / release / strategy / "written"


def _keep(release: str) -> None:
    """Keeps a release's checkpoints beside the test that reads them."""
    for strategy in trials.STRATEGIES:
        kept = KEPT / f"{release}-{strategy}"
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(_folder(release, strategy), kept, ignore=shutil.ignore_patterns(".*lock*"))


if __name__ == "__main__":
    sys.exit(exit_status(lambda: typer.run(command)))
