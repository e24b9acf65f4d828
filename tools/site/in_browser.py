"""Lints a text inside of a browser, where Python is compiled to WebAssembly."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

from trainyard.cli import main

FOLDER = Path("/tmp/playground")  # noqa: S108 (in the memory of the page)


def lint(text: str) -> str:
    """Return what `trainyard lint run.yaml` prints for a file with this text."""
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "run.yaml").write_text(text, encoding="utf-8")
    printed = io.StringIO()
    with contextlib.chdir(FOLDER), contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        main.main(["lint", "run.yaml"])
    return printed.getvalue()
