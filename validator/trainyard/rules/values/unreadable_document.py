"""The file cannot be parsed, so nothing in it is checked.

The file is not UTF-8, its YAML or JSON is broken, or a document has a form that no program can use: nested hundreds of
levels deep, or with aliases that expand to more than memory holds. `kubectl` and Helm stop at such a file too, but
often only when a job is submitted, and with a wrong line number.

The usual causes are a tab in the indentation, a colon and a space in a value without quotes, and a quote that is never
closed. Documents before and after the broken one, separated from it by `---`, are still checked.

A file is checked up to 10,000 roles and containers for each mebibyte, where an object counts as three of them. The
finding is at the object that is too much. This object and what follows are not checked.

A template of Helm or Jinja is no YAML before it is rendered, and a broken file that nothing names as Kubernetes, as
DeepSpeed or as the values of a run is not the linter's to judge, nor is one named `invalid.yaml`. Such a file gets a
note instead of this finding. A file of values that a command names with `-f` is always checked.

`--select` does not turn this rule off, because a file that was not checked must not look clean.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainyard.document.source import lines
from trainyard.engine.rule import Problem, rule

if TYPE_CHECKING:
    from trainyard.engine.subjects import Reading


@rule(
    code="HV009",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("YAML 1.2.2, 5.2: a processor reads UTF-8, UTF-16 and UTF-32; 6.1: no tabs as indentation",),
)
def unreadable_document(reading: Reading) -> Iterator[Problem]:
    """Report a file that the parser rejects."""
    if not reading.broken:
        return
    numbered = lines(reading.source)
    for fault in reading.broken:
        number, column = min(fault.line, len(numbered)) - 1, fault.column - 1
        advice = "indent with spaces" if "\t" in numbered[number][: column + 1] else ""
        start = min(column, len(numbered[number]))
        at = reading.text.span(number, start, start + 1)
        yield Problem(at, f"cannot parse this: {fault.message}", advice)
