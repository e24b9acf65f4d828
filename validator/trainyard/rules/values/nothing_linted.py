"""There is nothing in this file or folder that can be checked, so that it is clean means nothing.

A check that looks at no object passes, and in a pipeline that is worse than one that fails: the path was misspelt, the
render came out empty, or the values belong to a chart that is not known, and from then on every mistake goes through.
So each file that is named on the command line must hold a Kubernetes object, a DeepSpeed configuration or the values of
a Trainyard chart, and each folder at least one such file. If not, the exit code is 3.

Name the right file, or render the chart first: `helm template ... | trainyard lint -`. Where files come from a list
that somebody else makes, as in a pre-commit hook, turn the rule off with `--ignore nothing-linted`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from validator.rule import Problem, rule
from validator.source import Place

if TYPE_CHECKING:
    from validator.linting import Reading


@rule(
    code="HV007",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("stackrox/kube-linter issue 209: a run that finds no object to lint ends with success",),
)
def nothing_linted(reading: Reading) -> Iterator[Problem]:
    """A file or folder, named by the user, without anything that rules look at."""
    if reading.folder is None and not reading.linted and not reading.broken:
        yield Problem(
            Place(reading.text),
            "nothing in here was linted: no Kubernetes object, no DeepSpeed configuration, no known chart's values",
            "name a file that has one, or lint what `helm template` prints",
        )
