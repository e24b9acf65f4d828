"""The public address of the project, which is known when a release is made: charts and packages link to it."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from tools.release.errors import ReleaseError
from tools.release.python import PROJECTS


def check(url: str) -> None:
    """Refuse an address that no reader can open.

    Raises:
        ReleaseError: It is such an address.
    """
    parts = urlsplit(url)
    if parts.scheme != "https" or not parts.hostname or not url.isprintable() or set(url) & set(" \"'"):
        raise ReleaseError(f"{url!r} is not an address of a project. Write one such as https://example.com/trainyard.")


def write(checkout: Path, url: str) -> None:
    """Add the address to each chart of an exported checkout, with its dependencies, and to each Python package."""
    for chart in (checkout / "charts").rglob("Chart.yaml"):
        _append(chart, f'home: "{url}"\nsources:\n  - "{url}"\n')
    for project in PROJECTS:
        _append(checkout / project / "pyproject.toml", f'\n[project.urls]\nHomepage = "{url}"\nSource = "{url}"\n')


def _append(file: Path, text: str) -> None:
    with file.open("a", encoding="utf-8") as target:
        target.write(text)
