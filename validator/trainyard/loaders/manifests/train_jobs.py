"""Roles of a TrainJob: those of its runtime, with the TrainJob's overrides.

Source: kubeflow/trainer v2.3.0 pkg/runtime/framework/plugins, Trainer in jobset/builder.go and EnforceMLPolicy of
torch, mpi and plainml; overrides: pkg/apis/trainer/v1alpha1/trainjob_types.go at v2.0.0, v2.1.0 and v2.2.0.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.document.document import Place
from trainyard.document.lookup import integer, items, mapping, text
from trainyard.facts.jobs.kubeflow import ANCESTOR
from trainyard.loaders.manifests.pods import ConfigMaps, load_pod, overridden, patched
from trainyard.model.run import Container, Pod, Resource, Role

CONTAINER = "node"
_BARE = {"name": CONTAINER}


def without_runtime(resource: Resource, spec: dict[str, Any], config_maps: ConfigMaps) -> Role:
    """Returns the training role of a TrainJob whose runtime is not among the files: only its own fields are known."""
    trainer, at = mapping(spec, "trainer"), resource.at.child("spec", "trainer")
    bare = Pod((), (), (), {}, {}, False, {"containers": [_BARE]}, at.child("spec"), at)
    empty = Container(CONTAINER, None, (), (), (), (), (), {}, {}, 0, (), _BARE, at)
    container = overridden(empty, trainer, at, bare, resource.namespace, config_maps)
    pod = bare._replace(containers=(container,))
    role = Role(CONTAINER, integer(trainer, "numNodes"), None, pod, 0, True, trainer, at)
    return _under_overrides(role, resource, spec, config_maps)


def in_runtime(role: Role, job: dict[str, Any], policy: dict[str, Any], nodes: int | None) -> Role:
    """Returns a runtime's replicated job as the role that the trainer's policy makes of it."""
    launcher_trains = mapping(policy, "mpi").get("runLauncherAsNode") is True
    if "mpi" in policy:
        if role.name == "launcher":
            return role._replace(trains=launcher_trains)
        if role.name == CONTAINER and nodes is not None:
            return role._replace(replicas=max(nodes - 1, 1) if launcher_trains else nodes)
    elif _is_trainer(job) and nodes is not None:
        return role._replace(replicas=nodes)
    step = text(job, "template", "metadata", "labels", ANCESTOR)
    return role._replace(trains=False) if role.trains and step.endswith("-initializer") else role


def under_train_job(
    role: Role, job: dict[str, Any], resource: Resource, spec: dict[str, Any], config_maps: ConfigMaps
) -> Role:
    """Returns a role of the runtime with the TrainJob's overrides."""
    container = role.container
    if container is not None and container.name == CONTAINER and (_is_trainer(job) or role.name == CONTAINER):
        at = resource.at.child("spec", "trainer")
        fields = mapping(spec, "trainer")
        if not _is_trainer(job):
            # Other nodes of an MPI runtime keep their command, which is the ssh server that the launcher connects to.
            fields = {key: value for key, value in fields.items() if key in ("env", "resourcesPerNode")}
        containers = list(role.pod.containers)
        containers[role.main] = overridden(container, fields, at, role.pod, resource.namespace, config_maps)
        role = role._replace(pod=role.pod._replace(containers=tuple(containers)))
    return _under_overrides(role, resource, spec, config_maps)


def _is_trainer(job: dict[str, Any]) -> bool:
    step = text(job, "template", "metadata", "labels", ANCESTOR)
    return step == "trainer" if step else text(job, "name") == CONTAINER


def _under_overrides(role: Role, resource: Resource, spec: dict[str, Any], config_maps: ConfigMaps) -> Role:
    patches = list(_patches(role.name, resource, spec, config_maps))
    template = role.pod
    for patch in patches:
        template = patched(template, patch)
    return role._replace(pod=template) if patches else role


def _patches(name: str, resource: Resource, spec: dict[str, Any], config_maps: ConfigMaps) -> Iterator[Pod]:
    for tree, at in (*_override_templates(name, resource, spec), *_patch_templates(name, resource, spec)):
        yield load_pod(tree, at, resource.namespace, config_maps)


def _override_templates(name: str, resource: Resource, spec: dict[str, Any]) -> Iterator[tuple[dict[str, Any], Place]]:
    for field in ("podSpecOverrides", "podTemplateOverrides"):
        for index, override in enumerate(items(spec, field)):
            if any(text(target, "name") == name for target in items(override, "targetJobs")):
                tree = {"spec": override} if field == "podSpecOverrides" else override
                yield tree, resource.at.child("spec", field, index)


def _patch_templates(name: str, resource: Resource, spec: dict[str, Any]) -> Iterator[tuple[dict[str, Any], Place]]:
    inside = ("trainingRuntimeSpec", "template", "spec", "replicatedJobs")
    for index, patch in enumerate(items(spec, "runtimePatches")):
        for number, job in enumerate(items(patch, *inside)):
            if text(job, "name") == name:
                at = resource.at.child("spec", "runtimePatches", index, *inside, number, "template", "spec", "template")
                yield mapping(job, "template", "spec", "template"), at
