"""The workflow names a template or a task that it does not have, so Argo refuses it.

`entrypoint`, `onExit`, and `template` of a step or a task are names of `templates`. `dependencies` and `depends` name
tasks of the same `dag`. Argo compares them when the workflow is submitted: "template name 'train' undefined",
"dependency 'prepare' not defined".

The rule leaves out workflows that take all templates from a WorkflowTemplate, and names with parameters.

Write a name as under `templates` or `tasks`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.argo import WORKFLOWS, Call, Spec, calls_of, spec_of
from trainyard.analysis.objects.object_references import is_unknown
from trainyard.document.document import Place
from trainyard.document.lookup import items, text
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match, format_list
from trainyard.model.run import Resource
from trainyard.startup import pattern

# The results of a task stand behind a dot: `prepare.Succeeded`.
_TASK = pattern(r"([A-Za-z0-9_-]+)(?:\.[A-Za-z]+)?")
_NEAR = 0.6


@rule(
    code="RF064",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "argoproj/argo-workflows v3.7.6 workflow/validate/validate.go: ValidateWorkflow, validateDAG",
        "argo-workflows.readthedocs.io/en/latest/enhanced-depends-logic",
    ),
    needs=WORKFLOWS,
)
def workflow_name_unknown(resource: Resource) -> Iterator[Problem]:
    """Report names of templates and tasks that are not there."""
    spec = spec_of(resource)
    if spec is None:
        return
    for field in ("entrypoint", "onExit"):
        yield from _template(text(spec.tree, field), spec.at.child(field), spec)
    for template, at in spec.templates.values():
        for call in calls_of(template, at):
            yield from _template(text(call.tree, "template"), call.at.child("template"), spec)
            yield from _tasks(call)


def _template(name: str, at: Place, spec: Spec) -> Iterator[Problem]:
    if name and not is_unknown(name) and name not in spec.templates:
        yield _problem("template", name, at, frozenset(spec.templates))


def _tasks(call: Call) -> Iterator[Problem]:
    for index, name in enumerate(items(call.tree, "dependencies")):
        if isinstance(name, str) and not is_unknown(name) and name not in call.siblings:
            yield _problem("task", name, call.at.child("dependencies", index), call.siblings)
    depends = text(call.tree, "depends")
    if is_unknown(depends):
        return
    for name in dict.fromkeys(match[1] for match in _TASK.finditer(depends)):
        if name not in call.siblings:
            yield _problem("task", name, call.at.child("depends"), call.siblings)


def _problem(what: str, name: str, at: Place, names: frozenset[str]) -> Problem:
    known = sorted(one for one in names if one)
    near = closest_match(name, known, _NEAR)
    told = f"did you mean `{near}`?" if near else f"it has {format_list(f'`{one}`' for one in known[:8])}"
    return Problem(at, f"the workflow has no {what} `{name}`, so Argo refuses it", told)
