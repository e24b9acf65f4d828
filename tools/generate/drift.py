"""Differences between the files of the repository and the output of the generators."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

SHOWN_LINES = 40


@dataclass(frozen=True)
class Drift:
    """A file that differs from its generator's output; None means that the file does not exist."""

    path: str
    committed: str | None
    generated: str | None

    def diff(self) -> Iterator[str]:
        """Yield a unified diff from the committed to the generated file, truncated after `SHOWN_LINES`."""
        if self.committed is None:
            yield f"{self.path}: is missing"
            return
        if self.generated is None:
            yield f"{self.path}: is not generated any more"
            return
        lines = list(
            difflib.unified_diff(
                self.committed.splitlines(),
                self.generated.splitlines(),
                f"{self.path} (committed)",
                f"{self.path} (generated)",
                lineterm="",
            )
        )
        yield from lines[:SHOWN_LINES]
        if len(lines) > SHOWN_LINES:
            yield f"… {len(lines) - SHOWN_LINES} more lines"

    def resolve(self, root: Path) -> None:
        """Make the file below `root` equal to the generated one."""
        path = root / self.path
        if self.generated is None:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.generated)


def compare(committed: Path, generated: Path, patterns: Iterable[str]) -> list[Drift]:
    """Return the differences between two trees among the files that match `patterns`, sorted by path."""
    patterns = list(patterns)
    found = ((tree, file) for tree in (committed, generated) for pattern in patterns for file in tree.glob(pattern))
    paths = {str(file.relative_to(tree)) for tree, file in found if file.is_file()}
    pairs = (Drift(path, _text(committed / path), _text(generated / path)) for path in sorted(paths))
    return [drift for drift in pairs if drift.committed != drift.generated]


def _text(path: Path) -> str | None:
    return path.read_text() if path.exists() else None
