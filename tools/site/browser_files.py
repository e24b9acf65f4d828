"""Files from npm that pages load: Python compiled to WebAssembly, and Mermaid, which draws diagrams."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.harness import npm
from tests.harness.cluster import cache, progress

PACKAGE = Path(__file__).with_name("browser")
PYTHON = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "pyodide-lock.json", "python_stdlib.zip")
# The build of Mermaid without mathematics and mind maps: half of the size.
MERMAID = "mermaid.tiny.js"


def folder() -> Path:
    """Return a folder with these files, fetched once."""
    return cache.cached("site", f"browser-{cache.digest(PACKAGE)}", _fetch, keep_others=False)


def _fetch(folder: Path) -> None:
    with progress.step("fetching Python and Mermaid for the browser"), cache.scratch(folder.name) as work:
        shutil.copytree(PACKAGE, work, dirs_exist_ok=True)
        packages = npm.install(work)
        for name in PYTHON:
            shutil.copy(packages / "pyodide" / name, folder)
        shutil.copy(packages / "@mermaid-js/tiny/dist" / MERMAID, folder)
