"""Releases of Python packages that the scripts of a container install."""

from __future__ import annotations

import re
from collections.abc import Iterable

from trainyard.model.run import Container


def pinned(container: Container, package: str) -> tuple[int, ...] | None:
    """Returns the release of `pip install package==1.2.3`; None without one, or with several."""
    pattern = re.compile(rf"(?<![\w.-]){re.escape(package)}(?:\[[\w,-]*\])?==(\d+(?:\.\d+)*)(?![\w.*])")
    found = {match[1] for script in container.scripts for match in pattern.finditer(script.text)}
    return tuple(int(part) for part in found.pop().split(".")) if len(found) == 1 else None


def installs_before(containers: Iterable[Container], package: str, release: tuple[int, ...]) -> bool:
    """True if a script installs a release of the package that is earlier than this one."""
    return any((pinned(container, package) or release) < release for container in containers)
