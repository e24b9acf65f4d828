"""Parts of expressions: pod templates of all kinds, variables of containers, and literals."""

from __future__ import annotations

import json
from collections.abc import Iterable

from trainyard.facts.jobs.kubeflow import REPLICA_FIELDS

_FIRST, *_OTHERS = (field for field, _ in REPLICA_FIELDS.values())
# The roles of a job of kubeflow.org, by name.
REPLICAS = {
    "replicas": f"object.?spec.?{_FIRST}" + "".join(f".or(object.?spec.?{field})" for field in _OTHERS) + ".orValue({})"
}
# The pod templates of an object. The container of a TrainJob is in its runtime, and its variables are in `trainer`.
TEMPLATES = {
    **REPLICAS,
    "templates": (
        "object.kind == 'Pod' ? dyn([object]) : "
        "object.kind == 'TrainJob' ? dyn([{'spec': {'containers': [object.?spec.?trainer.orValue({})]}}]) : "
        "object.kind == 'CronJob' ? dyn([object.spec.jobTemplate.spec.template]) : "
        "object.kind == 'JobSet' ? dyn(object.?spec.?replicatedJobs.orValue([]).map(j, j.template.spec.template)) : "
        "has(object.spec.template) && has(object.spec.template.spec.replicatedJobs) ? "
        "dyn(object.spec.template.spec.replicatedJobs.map(j, j.template.spec.template)) : "
        "has(object.spec.template) ? dyn([object.spec.template]) : "
        "dyn(variables.replicas.map(name, variables.replicas[name].?template.orValue({})))"
    ),
}
ALL_CONTAINERS = "(t.?spec.?containers.orValue([]) + t.?spec.?initContainers.orValue([]))"
# A decimal number that NCCL and every other reader understand in the same way.
_DECIMAL = "^-?(0|[1-9][0-9]{0,8})$"


def literal(values: object) -> str:
    """Returns strings, numbers, lists and maps as CEL writes them, which is as JSON does for plain ones."""
    return json.dumps(values, ensure_ascii=False)


def each_container(condition: str, containers: str = ALL_CONTAINERS) -> str:
    """Returns the expression that a condition holds for each container `c` of each template `t`."""
    return f"variables.templates.all(t, {containers}.all(c, {condition}))"


def each_variable(names: str, fault: str) -> str:
    """Returns the expression that no variable `e` has a fault; `names` is true for the variables that are judged.

    Values that the kubelet composes are not judged.
    """
    known = "type(e.?value.orValue(1)) == string && !e.value.contains('$') && !e.value.contains('`')"
    return each_container(f"c.?env.orValue([]).all(e, !({names} && {known} && ({fault})))")


def named(names: Iterable[str]) -> str:
    """Returns the condition that a variable `e` has one of these names."""
    return f"e.?name.orValue('') in {literal(sorted(names))}"


def out_of_range(low: int, high: int) -> str:
    """Returns the condition that the value of a variable `e` is a number outside of a range."""
    return f"e.value.matches('{_DECIMAL}') && !(int(e.value) >= {low} && int(e.value) <= {high})"
