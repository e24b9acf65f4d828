"""The values of rayStartParams are strings, so the API server rejects an unquoted number or boolean.

`rayStartParams` is a map of strings, which KubeRay writes into the options of `ray start`. YAML reads `num-gpus: 8` as
a number and `block: true` as a boolean, and the API server answers that the value must be of type string.

Put quotes around the value.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.ray import groups_of
from trainyard.document.document import SetValue
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource


@rule(
    code="RY010",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("ray-project/kuberay v1.7.0 ray-operator/apis/ray/v1/raycluster_types.go: RayStartParams",),
    fix="safe",
    needs=("rayStartParams",),
)
def ray_start_param_not_string(resource: Resource) -> Iterator[Problem]:
    """Report options of Ray that are no strings."""
    for group in groups_of(resource):
        for name, value in mapping(group.tree, "rayStartParams").items():
            if isinstance(value, bool | int | float):
                written = str(value).lower() if isinstance(value, bool) else str(value)
                at = group.at.child("rayStartParams", name)
                yield Problem(
                    at, f"{name} must be a string, not {written}", f'write "{written}"', (SetValue(at, written),)
                )
