"""Progress of long steps: a line with elapsed time on a terminal, plain lines in a log, no colour in a pipe."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from tests.harness.cluster import cache
from tests.harness.cluster.errors import ClusterError

# Soft-wrapped, so that a command in a hint can be copied as a whole.
console = Console(stderr=True, highlight=False, soft_wrap=True)


# Titles of the steps that are still to come, with their usual seconds; the rest have no number.
_expected: dict[str, int] = {}
_total = 0


@contextmanager
def counted(steps: Mapping[str, int]) -> Iterator[None]:
    """Number the steps of these titles while the body runs, and estimate the time that is left from their seconds."""
    global _total
    _expected.update(steps)
    _total = len(steps)
    try:
        yield
    finally:
        _expected.clear()


def minutes(seconds: float) -> str:
    """Return a duration for an estimate."""
    return f"about {max(1, round(seconds / 60))} min"


def _numbered(title: str) -> str:
    if title not in _expected:
        return title
    number = _total - len(_expected) + 1
    left = minutes(sum(_expected.values()))
    del _expected[title]
    return f"{title} [dim](part {number} of {_total}, {left} left)[/]"


@contextmanager
def step(title: str) -> Iterator[None]:
    """Show `title` with its elapsed time while the body runs, and then its result."""
    started = time.monotonic()
    shown = _numbered(title)
    try:
        if console.is_terminal:
            columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
            with Progress(*columns, console=console, transient=True) as progress:
                progress.add_task(shown)
                yield
        else:
            console.print(f"… {shown}")
            yield
    except BaseException:
        console.print(f"[red]✗[/] {title} [dim]({time.monotonic() - started:.1f} s)[/]")
        raise
    console.print(f"[green]✓[/] {title} [dim]({time.monotonic() - started:.1f} s)[/]")


def run(
    command: Sequence[str | Path],
    *,
    log: str,
    environment: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    hint: str = "",
) -> None:
    """Run a long command with its output in the log called `log`; raise with the log's path when it fails."""
    path = cache.log_path(log)
    # Otherwise a child of a killed harness would keep writing while the next run builds in the same place.
    guard = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []
    with path.open("wb") as output:
        finished = subprocess.run(
            [*guard, *(str(word) for word in command)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=None if environment is None else dict(environment),
            cwd=cwd,
            check=False,
            # Ctrl-C kills the command itself but not its children: kind's are engine commands, see `Engine.run`.
            start_new_session=True,
        )
    if finished.returncode != 0:
        tail = path.read_text(errors="replace").strip().splitlines()[-12:]
        summary = "\n".join(f"    {line}" for line in tail)
        raise ClusterError(
            f"`{Path(str(command[0])).name}` ended with exit status {finished.returncode}:\n{summary}",
            hint=hint,
            log=path,
        )


def report(error: ClusterError) -> None:
    """Print an error: the message, the hint and the path of the log."""
    console.print(f"[bold red]error:[/] {escape(error.message)}")
    if error.hint:
        console.print(f"[bold]try:[/] {escape(error.hint)}")
    if error.log is not None:
        console.print(f"[bold]log:[/] {error.log}")
