"""Helm deletes the object as soon as it is created: it is a hook with `hook-succeeded`, and another object needs it.

`helm.sh/hook-delete-policy: hook-succeeded` removes a hook when it has succeeded. A Job or a Pod succeeds when it ends.
Any other object has succeeded once the API server has taken it, and is deleted within the same second. A runtime, a
queue or a ConfigMap of this kind is never there for the objects that name it.

The rule applies to objects that another object of the files names, and which is no hook itself.

Remove `hook-succeeded`. With `before-hook-creation` alone, the object stays until the next upgrade.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainyard.analysis.objects.known_objects import fitting
from trainyard.analysis.objects.object_references import object_references
from trainyard.analysis.objects.references import references
from trainyard.document.document import Place
from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Project, Resource

_HOOK, _POLICY, _AT_ONCE = "helm.sh/hook", "helm.sh/hook-delete-policy", "hook-succeeded"
# Helm waits for the end of these.
_WAITED = ("Job", "Pod")


class _User(NamedTuple):
    kind: str
    name: str
    namespace: str
    at: Place


@rule(
    code="RF078",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "github.com/NVIDIA/aicr pull 719",
        "helm.sh/docs/topics/charts_hooks: any kind but Job and Pod is ready when it is loaded; hook-succeeded",
    ),
    needs=(_AT_ONCE,),
)
def hook_deletes_object(project: Project) -> Iterator[Problem]:
    """Report hooks that Helm deletes at once, and that others name."""
    hooks = [one for one in project.resources if _is_deleted(one)]
    if not hooks:
        return
    deleted = {_key(one.at): one for one in hooks}
    done: set[int] = set()
    for user in _users(project):
        found = fitting(project, user.kind, user.name, user.namespace, user.at)
        hook = deleted.get(_key(found[0].at)) if len(found) == 1 else None
        if hook is None or id(hook) in done:
            continue
        done.add(id(hook))
        yield Problem(
            hook.at.child("metadata", "annotations", _POLICY),
            f"Helm deletes the {hook.kind} as soon as it is created: `{_AT_ONCE}` is for Jobs and Pods, and another "
            "object needs it",
            f"remove `{_AT_ONCE}`",
            related=((user.at, "this names it"),),
        )


def _key(at: Place) -> tuple[int, tuple[str | int, ...]]:
    return id(at.document), at.path


def _users(project: Project) -> Iterator[_User]:
    for run in project.runs:
        if _HOOK not in run.annotations:
            yield from (_User(one.kind, one.name, run.namespace, one.at) for one in references(run))
    for one in object_references(project):
        if _HOOK not in mapping(one.at.document.tree, "metadata", "annotations"):
            yield _User(one.kind, one.name, one.namespace or "", one.at)


def _is_deleted(resource: Resource) -> bool:
    annotations = mapping(resource.tree, "metadata", "annotations")
    return resource.kind not in _WAITED and bool(text(annotations, _HOOK)) and _AT_ONCE in text(annotations, _POLICY)
