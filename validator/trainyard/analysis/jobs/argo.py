"""The specs of Argo workflows, their templates, and the calls of templates in them.

Source: argoproj/argo-workflows v3.7.6 pkg/apis/workflow/v1alpha1/workflow_types.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Resource
from trainyard.startup import NamedTuple

WORKFLOWS = ("Workflow", "WorkflowTemplate", "ClusterWorkflowTemplate", "CronWorkflow")
_GROUP = "argoproj.io/"


class Spec(NamedTuple):
    """The spec of a workflow with templates of its own."""

    tree: dict[str, Any]
    at: Place
    templates: dict[str, tuple[dict[str, Any], Place]]


class Call(NamedTuple):
    """A step or a task; `siblings` are the names of all steps or tasks of its template."""

    tree: dict[str, Any]
    at: Place
    siblings: frozenset[str]


def spec_of(resource: Resource) -> Spec | None:
    """Returns the spec of a workflow; None for other objects, and for workflows that take over those of a template."""
    if resource.kind not in WORKFLOWS or not resource.api_version.startswith(_GROUP):
        return None
    tree, at = mapping(resource.tree, "spec"), resource.at.child("spec")
    if resource.kind == "CronWorkflow":
        tree, at = mapping(tree, "workflowSpec"), at.child("workflowSpec")
    found = {
        text(one, "name"): (one, at.child("templates", index))
        for index, one in enumerate(items(tree, "templates"))
        if isinstance(one, dict)
    }
    return Spec(tree, at, found) if found and "workflowTemplateRef" not in tree else None


def calls_of(template: dict[str, Any], at: Place) -> Iterator[Call]:
    """Yields the steps and the tasks of a template."""
    groups = items(template, "steps")
    steps = [
        (one, at.child("steps", number, index))
        for number, group in enumerate(groups)
        for index, one in enumerate(group if isinstance(group, list) else ())
    ]
    tasks = [(one, at.child("dag", "tasks", index)) for index, one in enumerate(items(template, "dag", "tasks"))]
    for found in (steps, tasks):
        siblings = frozenset(text(one, "name") for one, _ in found)
        yield from (Call(one, place, siblings) for one, place in found if isinstance(one, dict))


def texts(tree: Any, at: Place) -> Iterator[tuple[str, Place]]:
    """Yields all texts of a tree."""
    if isinstance(tree, str):
        yield tree, at
    elif isinstance(tree, dict | list):
        for key, one in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from texts(one, at.child(key))


def template_of(project: Project, call: Call) -> tuple[Spec, str] | None:
    """Returns the WorkflowTemplate that a call takes a template from, and the name of that; None if there is none."""
    reference = mapping(call.tree, "templateRef")
    kind = "ClusterWorkflowTemplate" if reference.get("clusterScope") is True else "WorkflowTemplate"
    found = _templates.of(project).get((kind, text(reference, "name")), []) if reference else []
    spec = spec_of(found[0]) if len(found) == 1 else None
    return (spec, text(reference, "template")) if spec is not None else None


def _find_templates(project: Project) -> dict[tuple[str, str], list[Resource]]:
    found: dict[tuple[str, str], list[Resource]] = {}
    for one in project.of_kind("WorkflowTemplate", "ClusterWorkflowTemplate"):
        found.setdefault((one.kind, one.name), []).append(one)
    return found


_templates: LastIndex[Project, dict[tuple[str, str], list[Resource]]] = LastIndex(_find_templates)
