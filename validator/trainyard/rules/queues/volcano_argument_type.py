"""An argument of a plugin of Volcano's scheduler is a number in quotes, or no number, so it has no effect or ends it.

Most plugins read their weights as whole numbers. For a value of another type, such as `"10"` in quotes or `1.5`, they
log a warning and take the default. `resource-strategy-fit` and the time limits of `predicates` decode their values
strictly: with another type the scheduler ends at its first cycle and again after each restart, and nothing in the
cluster is scheduled. Releases before 1.6 had texts as arguments, and their examples have quotes.

Switches may be in quotes.

Write the number without quotes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.jobs.scheduler_configurations import volcano_plugins
from trainyard.document.document import Place
from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.facts.programs.volcano_scheduler import FATAL, INTEGERS, NUMBERS
from trainyard.model.run import Resource

_ENDS = "the scheduler ends at each start"


@rule(
    code="QU028",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "volcano-sh/volcano v1.15.1 pkg/scheduler/framework/arguments.go: GetInt, GetFloat64, Get",
        "volcano-sh/volcano v1.15.1 pkg/scheduler/plugins: resource-strategy-fit, predicates, binpack, nodeorder",
        "github.com/volcano-sh/volcano issue 5749",
    ),
    needs=("volcano-scheduler",),
)
def volcano_argument_type(resource: Resource) -> Iterator[Problem]:
    """Report arguments that the scheduler does not read as numbers."""
    for plugin, at in volcano_plugins(resource):
        name, arguments, place = text(plugin, "name"), mapping(plugin, "arguments"), at.child("arguments")
        for key, value in arguments.items():
            if _is_one(str(key), FATAL.get(name, ())) and not _is_integer(value):
                yield _problem(str(key), value, place.child(key), _ENDS, "write a whole number")
            elif _is_one(str(key), INTEGERS.get(name, ())) and not _is_integer(value):
                yield _problem(str(key), value, place.child(key), "the default counts", "write a whole number")
            elif _is_one(str(key), NUMBERS.get(name, ())) and not (_is_integer(value) or isinstance(value, float)):
                yield _problem(str(key), value, place.child(key), "the default counts", "write a number without quotes")
        if name == "resource-strategy-fit":
            yield from _weights(mapping(arguments, "resources"), place.child("resources"))


def _weights(resources: dict[str, Any], at: Place) -> Iterator[Problem]:
    for key in resources:
        weight = mapping(resources, key).get("weight")
        if weight is not None and not _is_integer(weight):
            yield _problem("weight", weight, at.child(key, "weight"), _ENDS, "write a whole number")


def _problem(key: str, value: Any, at: Place, consequence: str, help_: str) -> Problem:
    return Problem(at, f"`{key}` is {value!r}, which Volcano does not read as a number: {consequence}", help_)


def _is_one(key: str, names: tuple[str, ...]) -> bool:
    return any(key.startswith(name) if name.endswith(".") else key == name for name in names)


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
