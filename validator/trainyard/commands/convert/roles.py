"""The pods of a job as plain templates, whatever objects they are spread over."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, NamedTuple

from trainyard.commands.convert.errors import ConvertError
from trainyard.commands.convert.overlay import merged
from trainyard.document.lookup import items, mapping, text
from trainyard.model.run import Role, Run

Tree = dict[str, Any]
# Lists of mappings, most of which have names.
_NAMED = frozenset((
    "claims", "containers", "env", "envFrom", "imagePullSecrets", "initContainers", "ports", "resourceClaims",
    "volumeMounts", "volumes",
))  # fmt: skip


class Part(NamedTuple):
    """The pods of a role: `template` is a copy of their template, and `container` is the one in it that trains.

    `tree` is the mapping that holds the template: a replica spec, or the spec of a Job.
    """

    name: str
    replicas: int | None
    restart_policy: str | None
    trains: bool
    template: Tree
    container: Tree
    tree: Tree


def parts(run: Run) -> list[Part]:
    """Returns the roles of a run that have a container."""
    return [part for role in run.roles if (part := _part(run, role)) is not None]


def _part(run: Run, role: Role) -> Part | None:
    template = deepcopy(mapping(role.tree, "template"))
    if run.kind == "TrainJob":
        template = _of_train_job(run, role)
    _check(template, f"{run.kind} {run.name}: {role.name}")
    containers = items(template, "spec", "containers")
    if role.main >= len(containers) or not isinstance(containers[role.main], dict):
        return None
    return Part(role.name, role.replicas, role.restart_policy, role.trains, template, containers[role.main], role.tree)


def _check(tree: Any, at: str) -> None:
    """Raises `ConvertError` for a template whose lists of named items hold anything else: no API server accepts it."""
    if isinstance(tree, list):
        for index, item in enumerate(tree):
            _check(item, f"{at}[{index}]")
    for key, value in tree.items() if isinstance(tree, dict) else ():
        for item in value if key in _NAMED and isinstance(value, list) else ():
            if not isinstance(item, dict) or not isinstance(item.get("name", ""), str):
                raise ConvertError(f"{at}.{key}: an API server refuses this list; `trainyard lint` shows the reason")
        _check(value, f"{at}.{key}")


def _of_train_job(run: Run, role: Role) -> Tree:
    """Returns a template of the runtime with everything that the TrainJob changes.

    Source: kubeflow/trainer v2.3.0 pkg/runtime/core/trainingruntime.go and pkg/runtime/framework/plugins.
    """
    bare: Tree = {"spec": {"containers": [{"name": "node"}]}}
    template = bare if run.runtime is None else deepcopy(mapping(role.tree, "template"))
    trainer = mapping(run.spec, "trainer")
    own = {key: trainer[key] for key in ("image", "command", "args", "env") if trainer.get(key)}
    if trainer.get("resourcesPerNode"):
        own["resources"] = trainer["resourcesPerNode"]
    if role.trains:
        for container in items(template, "spec", "containers") if "resources" in own else ():
            if isinstance(container, dict) and container.get("name") == "node":
                # Those of the TrainJob replace them as a whole.
                container.pop("resources", None)
        template = merged(template, {"spec": {"containers": [{"name": "node", **own}]}})
    for patch in _patches(run.spec, role.name):
        template = merged(template, patch)
    return template


def _patches(spec: Tree, name: str) -> Iterator[Tree]:
    for field in ("podSpecOverrides", "podTemplateOverrides"):
        for patch in items(spec, field):
            if any(text(target, "name") == name for target in items(patch, "targetJobs")):
                own = {key: value for key, value in patch.items() if key != "targetJobs"}
                yield {"spec": own} if field == "podSpecOverrides" else own
    for patch in items(spec, "runtimePatches"):
        for job in items(patch, "trainingRuntimeSpec", "template", "spec", "replicatedJobs"):
            if text(job, "name") == name:
                yield mapping(job, "template", "spec", "template")


def differences(one: Any, other: Any, at: str = "") -> Iterator[str]:
    """Yields the paths at which two trees differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in {**one, **other}:
            yield from differences(one.get(key), other.get(key), f"{at}.{key}" if at else str(key))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, (ours, theirs) in enumerate(zip(one, other, strict=True)):
            yield from differences(ours, theirs, f"{at}[{index}]")
    elif one != other:
        yield at
