"""templates/_pod.tpl and _placement.tpl: the pod template of the Master and of every Worker."""

from __future__ import annotations

from typing import Any

from validator.roads.origins import ABSENT, From, Origin
from validator.roads.training_job import text
from validator.roads.training_job.chart import chart
from validator.roads.training_job.launch import arguments, command, environment
from validator.roads.training_job.values import RefusedError, Values


def selector_labels(values: Values) -> dict[str, Any]:
    """`common.selectorLabels`."""
    return {"app.kubernetes.io/name": chart().name, "app.kubernetes.io/instance": text.plain(values.release.name)}


def claim_name(values: Values) -> From:
    """`training-job.claimName`."""
    existing = values.get("checkpoints", "existingClaim")
    if existing:
        return values.copy("checkpoints", "existingClaim")
    return values.made(f"{values.release.name}-checkpoints", "checkpoints")


def pod(values: Values) -> dict[str, Any]:
    """`training-job.pod`."""
    return {
        "metadata": {
            "labels": _labels(values),
            "annotations": values.copy("podAnnotations") if values.get("podAnnotations") else ABSENT,
        },
        "spec": {
            "automountServiceAccountToken": False,
            "shareProcessNamespace": True,
            "enableServiceLinks": False,
            **_site_policy(values),
            "containers": [_container(values)],
            "volumes": _volumes(values),
        },
    }


def _labels(values: Values) -> From:
    own: dict[str, Any] = {key: values.copy("podLabels", key) for key in values.get("podLabels")}
    return values.made({**own, **selector_labels(values)}, "podLabels")


def _site_policy(values: Values) -> dict[str, Any]:
    """`common.pod`."""
    secrets = values.get("image", "pullSecrets")
    names = [
        From({"name": From(name, Origin(("image", "pullSecrets", n), exact=True))}, Origin(("image", "pullSecrets", n)))
        for n, name in enumerate(secrets or ())
    ]
    priority = values.get("placement", "priorityClassName")
    grace = values.get("terminationGracePeriodSeconds")
    copied = {
        "securityContext": ("podSecurityContext",),
        "nodeSelector": ("placement", "nodeSelector"),
        "tolerations": ("placement", "tolerations"),
    }
    return {
        "imagePullSecrets": values.made(names, "image", "pullSecrets") if names else ABSENT,
        "priorityClassName": values.copy("placement", "priorityClassName") if priority else ABSENT,
        "terminationGracePeriodSeconds": ABSENT if grace is None else values.copy("terminationGracePeriodSeconds"),
        **{field: values.copy(*path) if values.get(*path) else ABSENT for field, path in copied.items()},
        "affinity": _affinity(values),
    }


def _affinity(values: Values) -> Any:
    asked = values.get("placement", "affinity") or {}
    affinity: dict[str, Any] = {key: values.copy("placement", "affinity", key) for key in asked}
    spread = values.get("placement", "spread")
    if int(values.get("nodes")) > 1 and spread != "none":
        if "podAntiAffinity" in asked:
            reason = "it and placement.spread both say which pods share a node; set placement.spread to none"
            raise RefusedError(("placement", "affinity", "podAntiAffinity"), reason)
        labels = {"training.kubeflow.org/job-name": values.release.name}
        term = {"labelSelector": {"matchLabels": labels}, "topologyKey": "kubernetes.io/hostname"}
        rule: dict[str, Any] = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
        if spread != "required":
            preference = {"weight": 100, "podAffinityTerm": term}
            rule = {"preferredDuringSchedulingIgnoredDuringExecution": [preference]}
        affinity["podAntiAffinity"] = values.made(rule, "placement", "spread")
    return values.made(affinity, "placement", "affinity") if affinity else ABSENT


def _container(values: Values) -> dict[str, Any]:
    env = environment(values)
    mounts = [{"name": "checkpoints", "mountPath": values.copy("checkpoints", "mountPath")}]
    if values.get("sharedMemory", "enabled"):
        mounts.append({"name": "shared-memory", "mountPath": "/dev/shm"})  # noqa: S108
    mounts.append({"name": "tmp", "mountPath": "/tmp"})  # noqa: S108
    return {
        "name": "pytorch",
        "image": _image(values),
        "imagePullPolicy": values.bare("image", "pullPolicy"),
        "command": values.made(command(values), "torchrun"),
        "args": values.made(arguments(values), "train"),
        "env": From(env, Origin(("env",), named=True)) if env else ABSENT,
        "ports": [{"name": "pytorchjob-port", "containerPort": values.bare("torchrun", "port")}],
        "resources": _resources(values),
        "securityContext": values.copy("securityContext") if values.get("securityContext") else ABSENT,
        "volumeMounts": values.made(mounts, "sharedMemory"),
    }


def _image(values: Values) -> From:
    repository, digest = values.get("image", "repository"), values.get("image", "digest")
    if not repository:
        raise RefusedError(("image", "repository"), "it is empty; name an image")
    if digest:
        return values.made(f"{repository}@{digest}", "image", "digest")
    tag = values.get("image", "tag")
    return values.made(f"{repository}:{tag or chart().app_version}", "image", *(("tag",) if tag else ("repository",)))


def _resources(values: Values) -> From:
    limits = values.get("resources", "limits") or {}
    requests = values.get("resources", "requests") or {}
    reserved = {}
    for name in {**requests, **limits}:
        # Sprig's `merge` takes an empty value of the first mapping for none.
        own = requests.get(name) or name not in limits
        reserved[name] = values.copy("resources", "requests" if own else "limits", name)
    return values.made(
        {
            "limits": From(text.number(limits), Origin(("resources", "limits"), exact=True)),
            "requests": values.made(reserved, "resources", "requests"),
        },
        "resources",
    )


def _volumes(values: Values) -> list[Any]:
    source: dict[str, Any] = {"emptyDir": {}}
    if values.get("checkpoints", "enabled"):
        source = {"persistentVolumeClaim": {"claimName": claim_name(values)}}
    volumes = [values.made({"name": "checkpoints", **source}, "checkpoints")]
    if values.get("sharedMemory", "enabled"):
        memory = {"medium": "Memory", "sizeLimit": values.copy("sharedMemory", "size")}
        volumes.append(values.made({"name": "shared-memory", "emptyDir": memory}, "sharedMemory"))
    disk = {"sizeLimit": values.copy("temporaryStorage", "size")}
    return [*volumes, values.made({"name": "tmp", "emptyDir": disk}, "temporaryStorage")]
