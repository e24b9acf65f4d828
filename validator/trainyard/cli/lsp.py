"""`trainyard lsp`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from trainyard import DISTRIBUTION
from trainyard.cli.errors import NotHereError
from trainyard.cli.options import selection

HELP = f"""Serve an editor: findings while you type, pages of rules, and fixes.

An editor starts this command and speaks the Language Server Protocol with it over standard input and output. It shows
what `trainyard lint .` reports about the open files, for the text that is not saved yet. Hover shows the page that
`trainyard explain` prints. Code actions make the safe fix of a finding, make all safe fixes of a file
(`source.fixAll.trainyard`), or write a comment that allows a finding.

\b
  trainyard lsp                     the command of the server in an editor's settings
  trainyard lsp --pedantic          with the options of `trainyard lint`; the configuration is a better place for them

Neovim: vim.lsp.config('trainyard', {{cmd = {{'trainyard', 'lsp'}}, filetypes = {{'yaml'}}}}), then
vim.lsp.enable('trainyard'). Helix: command = "trainyard" and args = ["lsp"] below [language-server.trainyard]. The
documentation has settings for VS Code and Emacs.

Needs the protocol library: python -m pip install '{DISTRIBUTION}[lsp]'

Exit codes: 0 the editor has ended the server, 2 wrong usage or configuration, 3 the library is not installed.
"""


@click.command(name="lsp", help=HELP)
@click.option("--stdio", is_flag=True, help="Use standard input and output: the default, for editors that add it.")
@selection
def command(stdio: bool, **options: Any) -> None:  # noqa: ARG001
    """Serves until the editor ends."""
    from trainyard.linting.session import Options

    try:
        from trainyard.commands.editor import server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise NotHereError(
            "an editor needs the Language Server Protocol, which is not installed: "
            f"python -m pip install '{DISTRIBUTION}[lsp]'"
        ) from None
    # The server changes its working folder to that of each project.
    named = {name: Path(options[name]).absolute() for name in ("site", "config_file") if options[name]}
    server.serve(Options(**{**options, **{name: str(path) for name, path in named.items()}}))
