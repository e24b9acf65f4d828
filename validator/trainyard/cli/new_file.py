"""A file that a command writes: one that exists stays, unless the user says otherwise."""

from __future__ import annotations

from pathlib import Path

import click


def refuse_existing(path: Path, *, force: bool) -> None:
    """Raises `click.UsageError` for a file that exists and may not be replaced."""
    if not force and (path.exists() or path.is_symlink()):
        raise click.UsageError(f"-o {path}: the file exists; name another one, or replace it with --force")


def write(path: Path, text: str) -> None:
    """Writes a file as a whole. Raises `click.ClickException` with the reason if that fails."""
    from trainyard.document.opening import reason
    from trainyard.editing.atomic_write import replace

    try:
        replace(path, text.encode())
    except OSError as error:
        raise click.ClickException(f"-o {path}: it cannot be written: {reason(error)}") from None
