"""Checkpoints are written to a place that is lost with the pod, while the job is allowed to restart.

A path in the image's own file system is gone when the container restarts; an `emptyDir` is gone when the pod is
replaced, as after a node failure or an eviction. The job then starts again from step 0, and the GPU time is spent
twice.

Looked at are options such as `--checkpoint-dir`, `--output-dir` and `--save-dir` of launchers and GPU pods; for an
MPIJob the volumes are those of the workers. A relative path counts where no volume could hold it.

Jobs that may not restart, runs with `--save-strategy no`, URLs, pods that are not completely in the files, and an
`emptyDir` of a job with a single pod, which restarts in place, are left alone.

Mount a PersistentVolumeClaim at the path, or write to object storage.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from validator.aspects.known import pods_are_whole
from validator.aspects.mounts import mount_of
from validator.aspects.training_commands import launches, training
from validator.facts.devices import wants_gpu
from validator.facts.kubeflow import RUNTIMES
from validator.fields import whole
from validator.model import Command, Container, Mount, Pod, Role, Run
from validator.rule import Context, Problem, rule
from validator.source import Place

OPTIONS = (
    "--checkpoint-dir", "--checkpoints-dir", "--checkpoint-path", "--checkpoint-folder", "--ckpt-dir", "--ckpt-path",
    "--save-dir", "--save-path", "--output-dir", "--default-root-dir",
)  # fmt: skip
# No URL, no variable, no device.
PATH = re.compile(r"(?!/dev/|-)[\w./@%+=-]+\Z")
# Volumes that end with the pod, or hold what others wrote.
LOST = frozenset(("emptyDir", "ephemeral", "configMap", "secret", "downwardAPI", "projected"))
# Kinds of the training operator; the pods of the first two restart unless the file says otherwise.
RESTARTING = ("PyTorchJob", "PaddleJob")
REPLICAS = (*RESTARTING, "TFJob", "MPIJob", "XGBoostJob", "JAXJob")


@rule(
    code="SC005",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "Kubernetes documentation, Volumes: emptyDir ends with its pod, files of a container end with the container",
        "kubeflow/training-operator v1.9.3 pkg/controller.v1/common/pod.go: ReconcilePods creates pods anew",
        "kubeflow/training-operator v1.9.3 pkg/apis/kubeflow.org/v1: DefaultRestartPolicy of each kind",
    ),
)
def checkpoint_on_no_volume(role: Role, context: Context) -> Iterator[Problem]:
    """A checkpoint path without a volume that outlives the pod."""
    run = context.run
    if role.container is None or run is None or run.kind in RUNTIMES or not pods_are_whole(run):
        return
    if not _restarts(role, run):
        return
    commands = role.container.commands
    if not any(command.has(*OPTIONS) for command in commands):
        return
    writers = (role,) if role.trains else run.training_roles if run.kind == "MPIJob" else ()
    for index in sorted(training([command.words for command in commands])):
        command = commands[index]
        found = _path(command)
        if found is None or not writers or command.option("--save-strategy") == "no":
            continue
        if not launches(command.words) and not any(wants_gpu(writer.pod) for writer in writers):
            continue
        in_place = run.nodes == 1 and role.restart_policy in (None, "OnFailure", "Always")
        fates = [_fate(writer.pod, writer.container, found[0], in_place) for writer in writers if writer.container]
        if fates and None not in fates:
            yield Problem(
                found[1],
                f"checkpoints go to {found[0]}, which {fates[0]}, and the job may restart",
                "mount a PersistentVolumeClaim there, or write to object storage",
            )


def _path(command: Command) -> tuple[str, Place] | None:
    found = command.option_at(*OPTIONS)
    return found if found is not None and PATH.match(found[0]) else None


def _fate(pod: Pod, container: Container, path: str, in_place: bool) -> str | None:
    """How a path is lost; None where it is kept or nobody knows."""
    if not path.startswith("/") and any(_may_hold(pod, mount) for mount in container.mounts):
        # The working directory is the image's, and may be on a volume.
        return None
    mount = mount_of(container, path) if path.startswith("/") else None
    if mount is None:
        return "is on no volume and lost when the container ends"
    volume = pod.volume(mount.volume)
    if volume is None or volume.kind not in LOST or (in_place and volume.kind == "emptyDir"):
        return None
    return f"is the {volume.kind} volume {volume.name} and lost with the pod"


def _may_hold(pod: Pod, mount: Mount) -> bool:
    volume = pod.volume(mount.volume)
    written = volume is None or volume.kind not in LOST or volume.kind in ("emptyDir", "ephemeral")
    return written and not mount.mount_path.startswith("/dev/")


def _restarts(role: Role, run: Run) -> bool:
    if run.kind in REPLICAS:
        default = "OnFailure" if run.kind in RESTARTING else "Never"
        limit = whole(run.spec, "runPolicy", "backoffLimit")
        return (role.restart_policy or default) != "Never" and limit != 0
    # A Job without backoffLimit tries six times; one of a JobSet may also come again with the whole set.
    return whole(role.tree, "backoffLimit") != 0 or bool(whole(run.spec, "failurePolicy", "maxRestarts"))
