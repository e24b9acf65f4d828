"""Installations of several releases of PyTorch, each in a virtual environment of its own."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

from tests.harness.cluster import progress

FOLDER = Path("build/torch-versions")
# The last releases of the two minor versions before the pinned one.
OLDER = ("2.13.0", "2.14.1")
# What the trainer imports for the digits.
_NEEDED = ("numpy", "prometheus-client", "pyyaml", "scikit-learn")


def pinned() -> str:
    """Returns the release that this project is tested with."""
    return version("torch").partition("+")[0]


def install(release: str) -> Path:
    """Installs a release if it is not there yet; returns the path of its Python."""
    folder = FOLDER / release
    python = folder / "bin" / "python"
    complete = folder / "complete"
    if not complete.exists():
        packages = [f"torch=={release}", *(f"{name}=={version(name)}" for name in _NEEDED)]
        with progress.step(f"install PyTorch {release}"):
            progress.run(["uv", "venv", "--clear", folder], log=f"torch-{release}-venv")
            progress.run(["uv", "pip", "install", "--python", python, *packages], log=f"torch-{release}")
        complete.touch()
    # The interpreter is a link: its own path tells Python which packages to use.
    return python.absolute()
