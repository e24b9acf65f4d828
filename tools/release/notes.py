"""Notes of a release: its section of the changelog."""

from __future__ import annotations

import re
from pathlib import Path

from tools.release.errors import ReleaseError


def notes(changelog: Path, version: str) -> str:
    """Return the text below the heading `## VERSION`, which may have a date."""
    text = changelog.read_text(encoding="utf-8")
    section = re.search(rf"^## {re.escape(version)}\b[^\n]*\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    if section is None:
        raise ReleaseError(
            f"{changelog.name} has no section `## {version}`. Rename `## Unreleased`, and start a new, empty one."
        )
    if not section[1].strip():
        raise ReleaseError(f"The section `## {version}` of {changelog.name} is empty. Write what users notice.")
    return section[1].strip() + "\n"
