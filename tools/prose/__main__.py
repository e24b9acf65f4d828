"""The check's command line: `python -m tools.prose`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import typer

from tests.harness.cluster import tools
from tests.harness.cluster.command import exit_status
from tools.prose import texts

ROOT = Path(__file__).parents[2]
# READMEs of charts are generated from the comments of values, which are checked themselves.
MARKDOWN = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs", "trainer/README.md")
# In the repository, so that Vale finds its configuration; Git ignores the folder.
EXTRACTED = Path("build/prose")


def command() -> None:
    """Check Markdown, help texts and the comments of values against the style guide in CONTRIBUTING.md."""
    checked = (*MARKDOWN, _write("help.md", texts.help_texts(ROOT / "Makefile")), *_values_comments())
    vale = [str(tools.binary("vale")), "--no-global", "--output=line", *checked]
    sys.exit(subprocess.run(vale, cwd=ROOT, check=False).returncode)


def _values_comments() -> list[str]:
    return [
        _write(str(path.relative_to(ROOT).with_suffix(".md")), texts.values_comments(path.read_text()))
        for path in sorted(ROOT.glob("charts/*/values.yaml"))
    ]


def _write(name: str, text: str) -> str:
    path = ROOT / EXTRACTED / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return str(path.relative_to(ROOT))


if __name__ == "__main__":
    sys.exit(exit_status(lambda: typer.run(command)))
