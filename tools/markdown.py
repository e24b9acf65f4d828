"""Markdown: tables, and the section of a page between two markers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table."""
    for cells in (columns, ["---"] * len(columns), *rows):
        yield f"| {' | '.join(cells)} |"


def replace_section(text: str, name: str, lines: Iterable[str]) -> str:
    """Return the text with these lines between `<!-- name -->` and `<!-- end of name -->`."""
    before, start, rest = text.partition(f"<!-- {name} -->\n")
    _, end, after = rest.partition(f"<!-- end of {name} -->")
    return before + start + "".join(f"{line}\n" for line in lines) + end + after
