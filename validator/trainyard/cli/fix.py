"""`trainyard fix`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trainyard.cli import output
from trainyard.cli.chart import chart_options
from trainyard.cli.options import FILES, outcome, selection, session
from trainyard.linting import exit_codes

if TYPE_CHECKING:
    from trainyard.document.files import File
    from trainyard.engine.finding import Finding

HELP = """Correct the mistakes that have an automatic fix. Comments, order, quotes and line ends stay as they are.

Without --unsafe, only fixes that preserve the intent of the file are applied. A fix that would cause another finding is
not applied. Files that git ignores and virtual environments are skipped in folders. A file is written atomically. It is
left as it is if it was saved meanwhile, or has several hard links. Standard input is written, corrected, to standard
output.

\b
  trainyard fix run.yaml
  trainyard fix --diff --unsafe k8s/      preview
  trainyard fix --select NC005 k8s/       one rule only
  trainyard fix --chart charts/training-job -f run.yaml

Exit codes are those of `trainyard lint` for the remaining findings, and 2 if a file could not be written. With --diff
the exit code is also 1 when there is a difference.
"""


@click.command(name="fix", help=HELP)
@FILES
@chart_options
@selection
@outcome
@click.option("--unsafe", is_flag=True, help="Also apply fixes that may change the behaviour of the run.")
@click.option("--diff", is_flag=True, help="Print the difference and write nothing.")
def command(files: tuple[str, ...], unsafe: bool, diff: bool, **options: Any) -> int:
    """Applies fixes and reports the changes."""
    from trainyard.counting import counted
    from trainyard.reporters.escaping import visible

    run = session(files, **options)
    fixed = run.fix(unsafe=unsafe)
    output.show_notes(fixed.left)
    if diff:
        for line in (line for old, new in fixed.changed for line in _difference(old, new)):
            # A program such as `patch` needs the text as it is.
            click.echo(visible(line) if sys.stdout.isatty() else line)
    kept = set() if diff else {old.source.name for old, new in fixed.changed if not _write(old, new)}
    if not diff:
        _echo_input(fixed.after)
    corrected = [finding for finding in fixed.corrected if not kept.intersection(_edited(finding))]
    left = len(fixed.left.findings) + len(fixed.corrected) - len(corrected)
    done = f"{counted(len(corrected), 'finding')} in {counted(len(fixed.changed) - len(kept), 'file')}"
    click.echo(
        f"{'Would correct' if diff else 'Corrected'} {done if corrected else 'nothing'}; "
        f"{f'{left} left, which `trainyard lint` shows' if left else 'nothing is left'}.",
        err=True,
    )
    if kept:
        return exit_codes.USAGE
    code = exit_codes.exit_code(fixed.left, run.config)
    return exit_codes.FINDINGS if code == exit_codes.CLEAN and diff and fixed.changed else code


def _write(old: File, new: File) -> bool:
    """Returns true if the file is written. A file that cannot be does not keep the others from it."""
    from trainyard.document.opening import reason
    from trainyard.editing.atomic_write import replace

    name = old.source.name
    if not name.startswith("<"):
        try:
            replace(Path(name), old.encoded(new.source.text), old.encoded(old.source.text))
        except OSError as error:
            output.say(f"Error: {name} is not corrected: {reason(error)}")
            return False
    return True


def _edited(finding: Finding) -> set[str]:
    """Returns the names of the files that the fix of a finding changes."""
    from trainyard.editing.targets import edited_document

    return {edited_document(edit).source.name for edit in finding.edits}


def _echo_input(files: tuple[File, ...]) -> None:
    for file in files:
        if file.source.name.startswith("<"):
            sys.stdout.buffer.write(file.encoded(file.source.text))


def _difference(old: File, new: File) -> Iterator[str]:
    """Yields a unified diff that `patch` and `git apply` accept. Only a line feed ends a line of it."""
    from difflib import unified_diff

    before, after = (file.source.text.split("\n") for file in (old, new))
    name = old.source.name
    for line in unified_diff(_with_line_ends(before), _with_line_ends(after), f"a/{name}", f"b/{name}"):
        yield line.removesuffix("\n") if line.endswith("\n") else f"{line}\n\\ No newline at end of file"


def _with_line_ends(lines: list[str]) -> list[str]:
    """Returns lines with their ends; the last one has an end only if the text does."""
    *ended, last = lines
    return [*(f"{line}\n" for line in ended), *([last] if last else [])]
