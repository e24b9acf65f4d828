"""A template of Argo uses a parameter, an artifact or a step that is not there, so Argo refuses the workflow.

`{{inputs.parameters.NAME}}` and `{{inputs.artifacts.NAME}}` need an entry under `inputs` of the same template.
`{{steps.NAME...}}` and `{{tasks.NAME...}}` name a step or a task of the same template. `{{workflow.parameters.NAME}}`
needs an argument of the workflow that runs. With `templateRef` that is the Workflow which calls, and not the
WorkflowTemplate: its own `arguments` count only for `workflowTemplateRef`. Argo compares all names when the workflow
is submitted: "failed to resolve {{inputs.parameters.size}}".

The rule leaves out expressions, `{{=...}}`, and templates with tasks that contain a template of their own.

Declare the parameter, or write the name that is declared.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.jobs.argo import WORKFLOWS, Spec, calls_of, spec_of, template_of, texts
from trainyard.document.document import Place
from trainyard.document.lookup import items, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.engine.suggestions import closest_match, format_list
from trainyard.model.run import Project, Resource
from trainyard.startup import pattern

_INPUT = pattern(r"\{\{\s*inputs\.(parameters|artifacts)\.([A-Za-z0-9_-]+)[^{}]*\}\}")
_STEP = pattern(r"\{\{\s*(steps|tasks)\.([A-Za-z0-9_-]+)\.[^{}]*\}\}")
_ARGUMENT = pattern(r"\{\{\s*workflow\.parameters\.([A-Za-z0-9_-]+)\s*\}\}")
_NEAR = 0.6
# `{{workflow.parameters.json}}` is a list of all.
_ALL = "json"
# Workflows of Kubeflow Pipelines have thousands of texts, and each missing name stands in many.
_MOST = 20


@rule(
    code="RF065",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "argoproj/argo-workflows v3.7.6 workflow/validate/validate.go: resolveAllVariables, validateInputs",
        "argo-workflows.readthedocs.io/en/latest/workflow-templates: templateRef and workflow parameters",
        "github.com/argoproj/argo-workflows issue 6678",
    ),
    needs=WORKFLOWS,
)
def workflow_parameter_unknown(resource: Resource, context: Context) -> Iterator[Problem]:
    """Report names in templates that are not declared."""
    spec = spec_of(resource)
    if spec is None:
        return
    done: set[str] = set()
    for problem in (*_in_templates(spec), *_of_arguments(resource, spec, context.project)):
        if problem.message not in done and len(done) < _MOST:
            done.add(problem.message)
            yield problem


def _in_templates(spec: Spec) -> Iterator[Problem]:
    for name, (template, at) in spec.templates.items():
        calls = list(calls_of(template, at))
        if any("inline" in call.tree for call in calls):
            continue
        known = {kind: _names(items(template, "inputs", kind)) for kind in ("parameters", "artifacts")}
        siblings = frozenset(one for call in calls for one in call.siblings)
        for value, place in texts(template, at):
            if "{{" not in value:
                continue
            for match in _INPUT.finditer(value):
                if match[2] not in known[match[1]]:
                    what = f"the template `{name}` has no `inputs.{match[1]}.{match[2]}`"
                    yield _problem(what, match[2], at.child("name"), known[match[1]], place)
            for match in _STEP.finditer(value):
                if calls and match[2] not in siblings:
                    what = f"the template `{name}` has no {match[1][:-1]} `{match[2]}`"
                    yield _problem(what, match[2], at.child("name"), siblings, place)


def _of_arguments(resource: Resource, spec: Spec, project: Project) -> Iterator[Problem]:
    """Yields parameters of the workflow that it does not have, in its own templates and in those that it calls."""
    if "Template" in resource.kind:
        return
    have = _names(items(spec.tree, "arguments", "parameters")) | {_ALL}
    for template, at in spec.templates.values():
        for value, place in texts(template, at):
            for match in _ARGUMENT.finditer(value) if "{{" in value else ():
                if match[1] not in have:
                    what = f"the workflow has no parameter `{match[1]}`"
                    yield _problem(what, match[1], at.child("name"), have, place)
        for call in calls_of(template, at):
            taken = template_of(project, call)
            for name, place in _used(*taken) if taken is not None else ():
                if name not in have:
                    what = (
                        f"the template reads `workflow.parameters.{name}`, but this workflow, which calls it, has no "
                        "argument of this name"
                    )
                    yield _problem(what, name, call.at.child("templateRef", "template"), have, place)


def _used(spec: Spec, name: str) -> Iterator[tuple[str, Place]]:
    """Yields the parameters of the workflow that a template reads, and those that it calls in its own spec."""
    left, seen = [name], set[str]()
    while left:
        template, at = spec.templates.get(one := left.pop(), ({}, spec.at))
        if one in seen:
            continue
        seen.add(one)
        for value, place in texts(template, at):
            for match in _ARGUMENT.finditer(value) if "{{" in value else ():
                yield match[1], place
        left += [text(call.tree, "template") for call in calls_of(template, at)]


def _names(found: list[Any]) -> frozenset[str]:
    return frozenset(text(one, "name") for one in found)


def _problem(what: str, name: str, at: Place, names: frozenset[str], used: Place) -> Problem:
    known = sorted(one for one in names if one not in ("", _ALL))
    near = closest_match(name, known, _NEAR)
    have = format_list(f"`{one}`" for one in known[:8])
    told = f"did you mean `{near}`?" if near else f"there are {have}" if known else "declare it"
    # A value with a parameter is no place for a finding: something else replaces it.
    return Problem(at, f"{what}, so Argo refuses the workflow", told, related=((used, "it is used here"),))
