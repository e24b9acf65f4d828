"""Steps that a person can watch: a line with elapsed time on a terminal, plain lines in a log, no colour in a pipe."""

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

from . import cache
from .errors import ClusterError

# Soft-wrapped: a command in a hint can be copied whole.
console = Console(stderr=True, highlight=False, soft_wrap=True)


@contextmanager
def step(title: str) -> Iterator[None]:
    """Show `title` with its elapsed time while the body runs, and how it ended."""
    started = time.monotonic()
    try:
        if console.is_terminal:
            columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
            with Progress(*columns, console=console, transient=True) as progress:
                progress.add_task(title)
                yield
        else:
            console.print(f"… {title}")
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
    # Without this, a child of a killed harness goes on writing where the next run already builds.
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
            # Ctrl-C ends the command itself and spares its children: kind's are engine commands, see Engine.run.
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
    """Print an error the way a person reads it: what happened, what to do, where the details are."""
    console.print(f"[bold red]error:[/] {escape(error.message)}")
    if error.hint:
        console.print(f"[bold]try:[/] {escape(error.hint)}")
    if error.log is not None:
        console.print(f"[bold]log:[/] {error.log}")
