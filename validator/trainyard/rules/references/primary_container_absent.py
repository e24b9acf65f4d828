"""The trial has no container of the name `primaryContainerName`, so Katib never collects its metric.

Katib puts the collector of metrics beside the container of this name, and takes the trial for done when it ends. In a
trial without such a container, the collector is missing, and the trial stays in `Running` or ends without a metric.
A TFJob needs a container named `tensorflow`, a PyTorchJob one named `pytorch`.

Write the name of the container that prints the metric.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import format_list
from trainyard.model.run import Resource


@rule(
    code="RF015",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubeflow/katib v0.19.0 pkg/webhook/v1beta1/pod/inject_webhook.go: getPrimaryContainer",
        "github.com/kubeflow/katib issue 1544",
    ),
    needs=("primaryContainerName",),
)
def primary_container_absent(resource: Resource) -> Iterator[Problem]:
    """Report a primary container that the trial does not have."""
    template = mapping(resource.tree, "spec", "trialTemplate") if resource.kind == "Experiment" else {}
    wanted, trial = text(template, "primaryContainerName"), template.get("trialSpec")
    names = set(_names(trial))
    if wanted and names and wanted not in names and "${" not in wanted:
        at = resource.at.child("spec", "trialTemplate", "primaryContainerName")
        have = format_list(f"`{name}`" for name in sorted(names))
        yield Problem(at, f"the trial has no container `{wanted}`: Katib collects no metric", f"it has {have}")


def _names(tree: Any) -> Iterator[str]:
    """Yields the names of all containers in a tree."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            if key == "containers" and isinstance(value, list):
                yield from (str(one["name"]) for one in value if isinstance(one, dict) and "name" in one)
            else:
                yield from _names(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from _names(value)
