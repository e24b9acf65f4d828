"""The file or folder contains nothing that the linter can check, so a clean result means nothing.

A check that looks at no object passes, and in a pipeline that is worse than a failure: the path was misspelt, the
rendered output was empty, or the values belong to an unknown chart, and from then on every mistake goes through. Each
file on the command line must therefore contain a Kubernetes object, a configuration of DeepSpeed or Accelerate,
arguments of Hugging Face's Trainer, a task of SkyPilot or dstack, or the values of a Trainyard chart, and each folder
at least one such file. Otherwise the exit code is 3.

A chart below a named folder is rendered without Helm. If its templates use something that only Helm supports, or if
the chart refuses its own defaults and has no `ci/*-values.yaml`, the chart was not checked, and this rule reports it.

Name the right file, or let Helm render the chart: `trainyard lint --chart FOLDER -f values.yaml`. `exclude` in the
configuration leaves a chart out. If another tool makes the list of files, such as a pre-commit hook, turn the rule off
with `--ignore nothing-linted`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainyard.document.document import Place
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match

if TYPE_CHECKING:
    from trainyard.engine.subjects import Reading


@rule(
    code="HV007",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("stackrox/kube-linter issue 209: a run that finds no object to lint ends with success",),
)
def nothing_linted(reading: Reading) -> Iterator[Problem]:
    """Report a file or folder, named by the user, in which rules found nothing to check."""
    if reading.linted or reading.broken:
        return
    if reading.chart:
        # Most files are not charts.
        from pathlib import PurePath

        yield Problem(
            Place(reading.text),
            f"this chart was not checked: {reading.note}",
            f"`trainyard lint --chart {PurePath(reading.source.name).parent}` renders it with Helm",
        )
    elif reading.folder is None:
        yield Problem(
            Place(reading.text),
            "nothing to lint here: no Kubernetes object, no DeepSpeed configuration, no known chart's values",
            _misspelt_keys(reading) or "name a file that has one, or lint the output of `helm template`",
        )


def _misspelt_keys(reading: Reading) -> str:
    """Returns advice for values of training-job with misspelt keys; empty if there is no such key."""
    # Most files are linted.
    from trainyard.loaders.training_job.chart import chart
    from trainyard.loaders.training_job.values import TELLING_KEYS

    keys = {str(key) for document in reading.documents if isinstance(document.tree, dict) for key in document.tree}
    known = chart().schema["properties"].keys()
    found = {key: closest_match(key, known, 0.8) for key in sorted(keys - known)}
    if TELLING_KEYS.isdisjoint({*keys, *found.values()}):
        return ""
    written = [f"`{right}` instead of `{key}`" for key, right in found.items() if right]
    return f"if these are values of training-job, write {' and '.join(written)}" if written else ""
