"""`trainyard lint` in the process of a test: starting Python for it takes several times the processor time."""

from __future__ import annotations

import contextlib
import io
import sys
from unittest import mock

from tests.charts.helm import ROOT
from trainyard.cli import main


def lint(*arguments: str, text: str = "") -> tuple[int, str]:
    """Return the exit code and the output, with `text` on standard input and the repository as the folder."""
    stdin = io.TextIOWrapper(io.BytesIO(text.encode()))
    with (
        contextlib.chdir(ROOT),
        contextlib.redirect_stdout(io.StringIO()) as output,
        mock.patch.object(sys, "stdin", stdin),
    ):
        return main.main(["lint", *arguments]), output.getvalue()
