"""Checkpoints are written to storage that is lost with the pod, although the job may restart.

Files in the container's own file system are lost when the container restarts. An `emptyDir` is lost when the pod is
replaced, for example after a node failure or an eviction. The job then starts again from step 0, and the GPU time is
spent twice.

The rule checks options such as `--checkpoint-dir`, `--output-dir`, Megatron's `--save`, torchtitan's
`--job.dump_folder` and NeMo's `exp_manager.exp_dir=`, in launchers and GPU pods; for an MPIJob it checks the volumes of
the workers. It checks a relative path only if no volume could hold it, and of a variable with a fallback the path
outside of the volume.

The rule ignores jobs that may not restart, runs with `--save-strategy no`, URLs, pods that are not completely in the
files, and an `emptyDir` of a job with a single pod, which restarts in place.

Mount a PersistentVolumeClaim at the path, or write to object storage.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.jobs.workloads import workload_restarts
from trainyard.analysis.launchers.training_commands import starts_launcher, training_indexes
from trainyard.analysis.pods.mounts import mount_of
from trainyard.analysis.resources.devices import wants_gpu
from trainyard.document.document import Place
from trainyard.document.lookup import integer
from trainyard.document.placeholders import has_parameter
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.kubeflow import REPLICA_FIELDS, RUNTIMES
from trainyard.facts.jobs.workloads import GROUPS, PLAIN, group_of
from trainyard.facts.programs.checkpoints import COMMON, NAMES
from trainyard.model.run import Command, Container, Mount, Pod, Role, Run
from trainyard.startup import pattern

VARIABLE = pattern(r"\$(?:\{(?=\w+\}))?([A-Za-z_]\w*)\}?((?:/[\w./-]*)?)\Z")
ELSE = pattern(r"(?m)^\s*else\b|\|\|")
BRANCHES = 2
# Excludes URLs, variables and devices.
PATH = pattern(r"(?!/dev/|-)[\w./@%+=-]+\Z")
# Volumes that are deleted with the pod, or that are read-only.
LOST = frozenset(("emptyDir", "ephemeral", "configMap", "secret", "downwardAPI", "projected"))
# Kinds of the training operator; the pods of the first two restart by default.
RESTARTING = ("PyTorchJob", "PaddleJob")


@rule(
    code="SC005",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "Kubernetes documentation, Volumes: emptyDir ends with its pod, files of a container end with the container",
        "kubeflow/training-operator v1.9.3 pkg/controller.v1/common/pod.go: ReconcilePods creates pods anew",
        "kubeflow/training-operator v1.9.3 pkg/apis/kubeflow.org/v1: DefaultRestartPolicy of each kind",
        "volcano-sh/volcano v1.15.1 pkg/controllers/job/state/running.go: RestartJob, RestartTask, RestartPod",
        "kubernetes-sigs/lws v0.10.0 api/leaderworkerset/v1: RecreateGroupOnPodRestart is the default",
    ),
)
def checkpoint_on_no_volume(role: Role, context: Context) -> Iterator[Problem]:
    """A checkpoint path on storage that does not outlive the pod."""
    run = context.run
    if role.container is None or run is None or run.kind in RUNTIMES or not has_all_pods(run):
        return
    commands = role.container.commands
    if not any(command.given(NAMES) for command in commands) or not _restarts(role, run):
        return
    writers = (role,) if role.trains else run.training_roles if run.kind == "MPIJob" else ()
    for index in sorted(training_indexes([command.words for command in commands])):
        command = commands[index]
        found = _path(command, role.container) or _fallback(command, role.container)
        if found is None or not writers or command.option("--save-strategy") == "no":
            continue
        if not starts_launcher(command.words) and not any(wants_gpu(writer.pod) for writer in writers):
            continue
        in_place = run.nodes == 1 and role.restart_policy in (None, "OnFailure", "Always")
        fates = [_fate(writer.pod, writer.container, found[0], in_place) for writer in writers if writer.container]
        if fates and None not in fates:
            yield Problem(
                found[1],
                f"checkpoint path `{found[0]}` {fates[0]}",
                "mount a PersistentVolumeClaim at the path, or write to object storage",
            )


def _path(command: Command, container: Container) -> tuple[str, Place] | None:
    """Returns the last path among the options; a name that is common to many programs needs an absolute one."""
    known = list[tuple[int, str, Place]]()
    for name in command.given(NAMES):
        found = command.option_at(name)
        path = _expanded(found[0], container) if found is not None else None
        if found is not None and ((path or "").startswith("/") or name not in COMMON):
            known.append((command.word_at.index(found[1]), path or "", found[1]))
    if not known:
        return None
    _, path, at = max(known, key=lambda one: one[0]) if len(known) > 1 else known[0]
    return (path, at) if PATH.match(path) else None


def _fallback(command: Command, container: Container) -> tuple[str, Place] | None:
    """Returns the path that a script takes where another one, on a volume, is not there."""
    for name in command.given(NAMES):
        match = VARIABLE.match(command.option(name) or "")
        found = [one for one in container.settings if match is not None and one.name == match[1]]
        paths = [(one, one.value or "") for one in found if one.via == "script"]
        if len(paths) != BRANCHES or not all(path.startswith("/") and PATH.match(path) for _, path in paths):
            continue
        kept = [mount_of(container, path) is not None for _, path in paths]
        # The second of two branches is the one for the missing folder.
        if kept == [True, False] and any(ELSE.search(script.text) for script in container.scripts):
            return paths[1][1], paths[1][0].at
    return None


def _expanded(value: str, container: Container) -> str | None:
    """Returns a path, which may be in a variable that is set once."""
    match = VARIABLE.match(value)
    if match is None:
        return value
    found = [setting for setting in container.settings if setting.name == match[1]]
    return f"{found[0].value}{match[2]}" if len(found) == 1 and found[0].value else None


def _fate(pod: Pod, container: Container, path: str, in_place: bool) -> str | None:
    """The reason why the path is lost; None if it is kept or unknown."""
    if not path.startswith("/") and any(_may_hold(pod, mount) for mount in container.mounts):
        # The image sets the working directory, which may be on a volume.
        return None
    if any(has_parameter(mount.mount_path) for mount in container.mounts):
        return None
    mount = mount_of(container, path) if path.startswith("/") else None
    if mount is None:
        return "is not on a volume: a restarted container starts from step 0"
    volume = pod.volume(mount.volume)
    if volume is None or volume.kind not in LOST or (in_place and volume.kind == "emptyDir"):
        return None
    return f"is on the {volume.kind} volume `{volume.name}`, which is lost with the pod: a new pod starts from step 0"


def _may_hold(pod: Pod, mount: Mount) -> bool:
    volume = pod.volume(mount.volume)
    written = volume is None or volume.kind not in LOST or volume.kind in ("emptyDir", "ephemeral")
    return written and not mount.mount_path.startswith("/dev/")


def _restarts(role: Role, run: Run) -> bool:
    if run.kind in REPLICA_FIELDS:
        default = "OnFailure" if run.kind in RESTARTING else "Never"
        limit = integer(run.spec, "runPolicy", "backoffLimit")
        return (role.restart_policy or default) != "Never" and limit != 0
    if group_of(run.api_version) in GROUPS or run.kind in PLAIN:
        return workload_restarts(run, role)
    # A Job without backoffLimit retries six times; a Job of a JobSet may also restart with the whole set.
    return integer(role.tree, "backoffLimit") != 0 or bool(integer(run.spec, "failurePolicy", "maxRestarts"))
