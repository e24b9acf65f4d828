"""Tables in Markdown, and what a page has between two marks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """The lines of a table."""
    for cells in (columns, ["---"] * len(columns), *rows):
        yield f"| {' | '.join(cells)} |"


def filled(text: str, name: str, lines: Iterable[str]) -> str:
    """The text with these lines between `<!-- name -->` and `<!-- end of name -->`."""
    before, start, rest = text.partition(f"<!-- {name} -->\n")
    _, end, after = rest.partition(f"<!-- end of {name} -->")
    return before + start + "".join(f"{line}\n" for line in lines) + end + after
