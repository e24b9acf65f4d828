"""The text cannot be read, so nothing in it is checked.

The file is not UTF-8, its YAML or JSON is broken, or a document is built in a way that no program can use: nested
hundreds of levels deep, or with aliases that expand to more than memory holds. `kubectl` and Helm stop at such a
text too, but often only when a job is submitted, and with a line number that counts from the wrong place.

The usual reasons are a tab in the indentation, a colon and a space in a value without quotes, a quote that is never
closed, and Helm's `{{ ... }}` in a file that has not been rendered. Documents before and behind the broken one,
separated from it by `---`, are checked all the same.

This rule is on whatever `--select` says, because a file that was not checked must not look like one that is clean.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from validator.rule import Problem, rule
from validator.text import lines

if TYPE_CHECKING:
    from validator.linting import Reading


@rule(
    code="HV009",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("YAML 1.2.2, 5.2: a processor reads UTF-8, UTF-16 and UTF-32; 6.1: no tabs as indentation",),
)
def unreadable_document(reading: Reading) -> Iterator[Problem]:
    """A text that the parser refuses."""
    if not reading.broken:
        return
    numbered = lines(reading.source)
    template = next((number for number, line in enumerate(numbered) if "{{" in line), None)
    for fault in reading.broken:
        number, column = min(fault.line, len(numbered)) - 1, fault.column - 1
        advice = "indent with spaces" if "\t" in numbered[number][: column + 1] else ""
        if template is not None and template >= number:
            # Braces of a template are a mapping with a mapping as its key, which the parser notices at the end only.
            number, column, advice = template, numbered[template].index("{{"), "lint what `helm template` prints"
        start = min(column, len(numbered[number]))
        at = reading.text.span(number, start, start + 1)
        yield Problem(at, f"this cannot be read: {fault.message}", advice)
