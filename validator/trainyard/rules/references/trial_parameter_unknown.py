"""A trial parameter refers to a parameter that the experiment does not have, or the trial uses one that is not listed.

Katib replaces `${trialParameters.name}` by the value of the parameter that `reference` names, exactly as it is written
under `parameters`. With another name, the experiment is refused, or its trials fail with the text unreplaced.

Write the name as under `parameters`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match, format_list
from trainyard.model.run import Resource

_USED = re.compile(r"\$\{trialParameters\.([\w.-]+)\}")


@rule(
    code="RF020",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubeflow/katib v0.19.0 pkg/controller.v1beta1/experiment/manifest/generator.go: applyParameters",
        "kubeflow/katib v0.19.0 pkg/webhook/v1beta1/experiment/validator/validator.go: validateTrialParameters",
        "github.com/kubeflow/katib issue 1542",
    ),
    needs=("trialParameters",),
)
def trial_parameter_unknown(resource: Resource) -> Iterator[Problem]:
    """Report references to parameters that are not there."""
    if resource.kind != "Experiment":
        return
    spec = mapping(resource.tree, "spec")
    template, at = mapping(spec, "trialTemplate"), resource.at.child("spec", "trialTemplate")
    names = {text(one, "name") for one in items(spec, "parameters")} - {""}
    listed = {text(one, "name") for one in items(template, "trialParameters")} - {""}
    for number, one in enumerate(items(template, "trialParameters")):
        wanted = text(one, "reference")
        # The metadata of the trial can be referred to as well: `${trialSpec.Name}`.
        if not names or not wanted or wanted in names or "${" in wanted:
            continue
        near = closest_match(wanted, sorted(names), 0.5)
        yield Problem(
            at.child("trialParameters", number, "reference"),
            f"the experiment has no parameter `{wanted}`",
            f"did you mean `{near}`?" if near is not None else f"its parameters: {format_list(sorted(names))}",
        )
    # Without a list, the template is a part of an experiment.
    for name in sorted(set(_used(template.get("trialSpec"))) - listed) if listed else ():
        yield Problem(
            at.child("trialParameters"), f"the trial uses `${{trialParameters.{name}}}`, which is not listed", "add it"
        )


def _used(tree: Any) -> Iterator[str]:
    if isinstance(tree, str):
        yield from _USED.findall(tree)
    elif isinstance(tree, dict | list):
        for value in tree.values() if isinstance(tree, dict) else tree:
            yield from _used(value)
