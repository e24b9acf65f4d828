"""The runtime environment of the Ray job is refused, after the cluster with its GPUs was started.

`runtimeEnvYAML` is a text with YAML. One that cannot be read, or that is no mapping, fails when the job is submitted;
older releases of KubeRay start the cluster first. Ray takes only texts as values of `env_vars`: a number or `true`
without quotes fails with "runtime_env['env_vars'] must be of type Dict[str, str]". The same holds for the JSON of `ray
job submit --runtime-env-json`.

Correct the YAML, and put quotes around the values of `env_vars`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from trainyard.analysis.objects.scalars import unquoted_scalar
from trainyard.document.document import Place
from trainyard.document.lookup import mapping, text
from trainyard.document.reading import embedded
from trainyard.document.source import BrokenText
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Command, Project, Resource

FIELD = "runtimeEnvYAML"
_OPTION = "--runtime-env-json"
_STARTS = (("ray", "job", "submit"), ("serve", "run"), ("serve", "deploy"))


@rule(
    code="RY023",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "ray-project/kuberay v1.7.0 ray-operator/controllers/ray/utils/validation.go: ValidateRayJobSpec",
        "ray-project/ray 2.52.0 python/ray/_private/runtime_env/validation.py: parse_and_validate_env_vars",
        "github.com/ray-project/kuberay pull 1898",
    ),
    needs=(FIELD, _OPTION),
)
def runtime_env_refused(project: Project) -> Iterator[Problem]:
    """Report runtime environments that Ray or KubeRay refuses."""
    for resource in project.of_kind("RayJob"):
        yield from _of_job(resource)
    for run in project.runs:
        for command in run.commands:
            yield from _of_command(command)


def _of_command(command: Command) -> Iterator[Problem]:
    told = command.option_at(_OPTION) if command.program in ("ray", "serve") else None
    words = (command.program, *command.words[1:])
    if told is None or "$" in told[0] or not any(words[: len(start)] == start for start in _STARTS):
        return
    tree: Any = None
    try:
        tree = json.loads(told[0])
    except ValueError:
        yield Problem(told[1], f"the value of {_OPTION} is not JSON: Ray rejects the job", "correct it")
        return
    for name, value in mapping(tree, "env_vars").items():
        if not isinstance(value, str):
            message = f"variable `{name}` of `env_vars` is not text: Ray rejects the job"
            yield Problem(told[1], message, f'write `"{name}": "{value}"`')


def _of_job(resource: Resource) -> Iterator[Problem]:
    written = text(resource.tree, "spec", FIELD)
    if not written.strip() or "{{" in written:
        return
    at = resource.at.child("spec", FIELD)
    inner = embedded(at, written)
    if isinstance(inner, BrokenText):
        yield Problem(at.key(), f"`{FIELD}` is not valid YAML: {inner.message}", "correct it: KubeRay rejects the job")
    elif not isinstance(inner.tree, dict):
        yield Problem(
            at.key(), f"`{FIELD}` is not a mapping: the job is rejected", "write fields such as `pip` and `env_vars`"
        )
    else:
        for name, value in mapping(inner.tree, "env_vars").items():
            if not isinstance(value, str):
                place = Place(inner).child("env_vars", str(name))
                shown = unquoted_scalar(place) or str(value)
                yield Problem(
                    place, f"variable `{name}` of `env_vars` is not text: Ray rejects the job", f'write `"{shown}"`'
                )
