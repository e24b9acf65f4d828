"""Known vulnerabilities of the pinned Python packages: `python -m tools.advisories`, or `make advisories`.

pip-audit asks the database of OSV about each package of each lock, so this needs the Internet, or a server that answers
as https://google.github.io/osv.dev/post-v1-query/ describes. The exit status is 1 if a package has a known
vulnerability, or if one could not be looked up.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

ROOT = Path(__file__).parents[1]
FOLDERS = (ROOT, ROOT / "tests/harness/cluster/images")
OSV = "https://api.osv.dev/v1/query"
console = Console(soft_wrap=True, highlight=False)


def locks() -> list[Path]:
    """Returns the files that pin packages with hashes."""
    return [path for folder in FOLDERS for path in sorted(folder.glob("*.lock"))]


def audit(lock: Path, source: str) -> bool:
    """Returns true if no package of a lock has a known vulnerability. pip-audit prints what it finds."""
    (pin,) = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]["advisories"]
    # Strict: a package that could not be looked up fails. Without pip: the lock holds all packages.
    options = ["--strict", "--disable-pip", "--require-hashes", "--progress-spinner=off"]
    service = ["--vulnerability-service=osv", f"--osv-url={source}"]
    command = ["uv", "tool", "run", "--quiet", "--from", pin, "pip-audit", *options, *service, f"--requirement={lock}"]
    return subprocess.run(command, check=False).returncode == 0


def command(
    lock: Annotated[list[Path] | None, typer.Argument(help="Locks. Default: all of the repository.")] = None,
    source: Annotated[str, typer.Option(help="URL of the query of OSV.")] = OSV,
) -> None:
    """Compare the pinned Python packages with known vulnerabilities."""
    failed = 0
    for path in lock or locks():
        console.print(f"{path.name}:")
        failed += not audit(path, source)
    console.print(f"locks with a vulnerability or without an answer: {failed}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    typer.run(command)
