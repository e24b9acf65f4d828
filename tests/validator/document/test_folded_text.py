"""The lines of a folded text are found where their words stand in the file."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from trainyard.document import reading
from trainyard.document.document import Document, Place
from trainyard.document.source import Source

# Blank lines, and words with additional indentation.
LINES = st.lists(st.sampled_from([None, "", "", "", "  ", " "]), max_size=12)


def read(*lines: str) -> Document:
    (document,), _ = reading.read(Source("a.yaml", "\n".join(["script: >", *lines, "end: true", ""])))
    return document


@given(LINES)
def test_a_line_is_at_the_lines_of_the_file_that_hold_its_words(rest: list[str | None]) -> None:
    shapes = ["", *rest]
    written = ["" if deeper is None else f"  {deeper}word{number}." for number, deeper in enumerate(shapes)]
    document = read(*written)
    place = Place(document, ("script",))
    for number, line in enumerate(document.tree["script"].split("\n")):
        for word in line.split():
            found = place.below(number).locate()
            assert any(word in one for one in ["script: >", *written][found.line - 1 : found.end_line])
            assert ["script: >", *written].index(next(one for one in written if word in one)) + 1 == (
                place.word(number, word).locate().line
            )


def test_words_are_found_behind_lines_that_were_joined() -> None:
    document = read("  mpirun -np 16", "  -x NCCL_DEBUG=INFO", "", "  echo done")
    place = Place(document, ("script",))
    assert document.tree["script"] == "mpirun -np 16 -x NCCL_DEBUG=INFO\necho done\n"
    assert place.word(0, "NCCL_DEBUG=INFO").locate().line == 3
    assert place.word(1, "done").locate().line == 5
