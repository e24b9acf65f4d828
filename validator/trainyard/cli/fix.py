"""`trainyard fix`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from validator.cli.options import FILES, selection, session
from validator.exit_codes import CLEAN, FINDINGS, NOTHING

if TYPE_CHECKING:
    from validator.files import File

HELP = """Correct what can be corrected, and keep everything else as it is: comments, order, quotes, line ends.

Without --unsafe only fixes are made that keep what the file asks for. A fix that would bring another finding is not
made. A file is written at once or not at all; standard input is answered on standard output.

\b
  trainyard fix run.yaml
  trainyard fix --diff --unsafe k8s/      look first
  trainyard fix --select NC005 k8s/       one rule only

Exit codes as of `trainyard lint`, for what is left; with --diff also 1 when there is a difference.
"""


@click.command(name="fix", help=HELP)
@FILES
@selection
@click.option("--unsafe", is_flag=True, help="Also fixes that may change what the run does.")
@click.option("--diff", is_flag=True, help="Write nothing, and print the difference.")
def command(files: tuple[str, ...], unsafe: bool, diff: bool, **options: Any) -> int:
    """Fix, and say what was done."""
    from validator import fixing
    from validator.files import load
    from validator.reporters.text import counted

    run = session(files, **options)
    found = load(run.files, run.config.exclude)
    fixed = fixing.fix(found, run.engine, run.config.allow, unsafe=unsafe)
    if diff:
        for line in (line for old, new in fixed.changed for line in _difference(old, new)):
            click.echo(line)
    else:
        for old, new in fixed.changed:
            _write(old, new)
        _echo_input(fixed.after)
    left = len(fixed.left.findings)
    done = f"{counted(len(fixed.corrected), 'finding')} in {counted(len(fixed.changed), 'file')}"
    click.echo(
        f"{'Would correct' if diff else 'Corrected'} {done if fixed.corrected else 'nothing'}; "
        f"{f'{left} left, which `trainyard lint` shows' if left else 'nothing is left'}.",
        err=True,
    )
    if fixed.left.nothing_linted:
        return NOTHING
    return FINDINGS if left or (diff and fixed.changed) else CLEAN


def _write(old: File, new: File) -> None:
    from validator.writing import replace

    if old.source.name.startswith("<"):
        return
    try:
        replace(Path(old.source.name), old.encoded(new.source.text))
    except OSError as error:
        raise click.ClickException(f"{old.source.name} cannot be written: {error.strerror}") from None


def _echo_input(files: tuple[File, ...]) -> None:
    for file in files:
        if file.source.name.startswith("<"):
            sys.stdout.buffer.write(file.encoded(file.source.text))


def _difference(old: File, new: File) -> Iterator[str]:
    """A unified diff that `patch` and `git apply` take; line ends other than that of Linux stay in its lines."""
    from difflib import unified_diff

    before, after = (file.source.text.split("\n") for file in (old, new))
    name = old.source.name
    for line in unified_diff(_ended(before), _ended(after), f"a/{name}", f"b/{name}"):
        yield line.removesuffix("\n") if line.endswith("\n") else f"{line}\n\\ No newline at end of file"


def _ended(lines: list[str]) -> list[str]:
    """Lines with their ends; of the last one it depends on the text."""
    *ended, last = lines
    return [*(f"{line}\n" for line in ended), *([last] if last else [])]
