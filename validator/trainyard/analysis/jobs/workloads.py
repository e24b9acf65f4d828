"""Questions about jobs of Volcano, LeaderWorkerSet, Ray, HyperPod, kthena, DLRover. Sources: `facts.jobs.workloads`."""

from __future__ import annotations

from typing import Any

from trainyard.document.lookup import integer, items, mapping, text
from trainyard.facts.jobs.kubeflow import REPLICA_FIELDS
from trainyard.facts.jobs.workloads import (
    ELASTIC_JOB,
    HYPERPOD,
    LEADER_WORKER,
    LEADER_WORKER_VARIABLES,
    MODEL_SERVING,
    MODEL_SERVING_VARIABLES,
    PLAIN,
    RAY,
    VOLCANO,
    VOLCANO_INDEX,
    VOLCANO_PYTORCH,
    VOLCANO_WITH_SERVICE,
    group_of,
    is_workload,
)
from trainyard.model.run import Container, Role, Run

_IDLE = frozenset(("agnhost", "alpine", "busybox", "nginx", "pause", "sleep"))


def is_volcano(run: Run) -> bool:
    """True for a Job of Volcano."""
    return run.kind == "Job" and group_of(run.api_version) == VOLCANO


def is_batch_job(run: Run) -> bool:
    """True for a Job of Kubernetes."""
    return run.kind == "Job" and run.api_version == "batch/v1"


def is_ray(run: Run | None) -> bool:
    """True for a cluster of KubeRay, or a job or service with one."""
    return run is not None and group_of(run.api_version) == RAY


def is_known(run: Run) -> bool:
    """True if the run is of a kind of this module, or a controller of Kubernetes whose number of pods is known."""
    return is_workload(run.api_version, run.kind) or run.kind in PLAIN


def runs_one_program(run: Run) -> bool:
    """True if the roles that train run one program. Groups of Ray workers, and roles of a JobSet, may differ."""
    if run.kind in REPLICA_FIELDS or group_of(run.api_version) in (LEADER_WORKER, HYPERPOD):
        return True
    images = {role.container.image for role in run.training_roles if role.container is not None}
    return is_volcano(run) and len(images) == 1


def only_waits(container: Container) -> bool:
    """True if the image or the command does nothing, as in examples of queues and schedulers."""
    name = (container.image or "").rsplit("/", 1)[-1].split(":", 1)[0].split("@", 1)[0]
    command = container.commands[0] if container.commands else None
    return name in _IDLE or (command is not None and command.program in ("sleep", "pause"))


def gets_shared_memory(run: Run | None, role: Role, container: Container) -> bool:
    """True if KubeRay mounts a volume at /dev/shm: in the first container, unless Ray's objects are elsewhere."""
    first = role.pod.containers[:1]
    return is_ray(run) and bool(first) and first[0] is container and "plasma-directory" not in _start(role)


def _start(role: Role) -> dict[str, object]:
    return mapping(role.tree, "rayStartParams")


def plugins(run: Run) -> dict[str, list[str]]:
    """Returns the plugins of a Volcano Job, with their arguments. The webhook adds `svc` to those that need it."""
    found = {
        name: [str(word) for word in items(mapping(run.spec, "plugins"), name)] for name in mapping(run.spec, "plugins")
    }
    if any(name in found for name in VOLCANO_WITH_SERVICE):
        found.setdefault("svc", [])
    return found


def pytorch_plugin_variables(run: Run) -> frozenset[str]:
    """Returns the variables that Volcano's pytorch plugin appends to every container, if it finds its master task."""
    arguments = plugins(run).get("pytorch") if is_volcano(run) else None
    if arguments is None or run.role(argument(arguments, "master") or "master") is None:
        return frozenset()
    return frozenset(VOLCANO_PYTORCH)


def argument(arguments: list[str], name: str) -> str | None:
    """Returns the value of an argument of a plugin, as `--name=value`, `-name=value` or two words."""
    for index, word in enumerate(arguments):
        key, equals, value = word.lstrip("-").partition("=")
        if key == name:
            return value if equals else next(iter(arguments[index + 1 : index + 2]), None)
    return None


def controller_variables(run: Run) -> tuple[frozenset[str], tuple[str, ...]]:
    """Returns the variables that the controller of a run sets in its pods, and prefixes of their names."""
    group = group_of(run.api_version)
    if group == LEADER_WORKER:
        return frozenset(LEADER_WORKER_VARIABLES), ("TPU_",)
    if group == RAY:
        return frozenset(("FQ_RAY_IP",)), ("RAY_", "KUBERAY_")
    if group == MODEL_SERVING:
        return frozenset(MODEL_SERVING_VARIABLES), ()
    if group in (HYPERPOD, ELASTIC_JOB):
        # The operator of HyperPod is closed, and that of DLRover sets many: what they set is not known.
        return frozenset(), ("",)
    return _volcano_variables(run) if is_volcano(run) else (frozenset(), ())


def _volcano_variables(run: Run) -> tuple[frozenset[str], tuple[str, ...]]:
    known = plugins(run)
    names = set(pytorch_plugin_variables(run))
    if "env" in known:
        names.update(VOLCANO_INDEX)
    if "svc" in known and (argument(known["svc"], "inject-hosts-env") or "true").lower() not in ("false", "f", "0"):
        for role in run.roles:
            names.update(host_variables(role.name))
    prefixes = {"mpi": ("MPI_",), "tensorflow": ("TF_CONFIG",), "hcclrank": ("HCCL_",), "ray": ("RAY_",)}
    return frozenset(names), tuple(prefix for name in known for prefix in prefixes.get(name, ()))


def host_variables(task: str) -> tuple[str, str]:
    """Returns the variables with the hosts of a task and their number, which Volcano's svc plugin sets."""
    name = task.replace("-", "_").upper()
    return f"VC_{name}_HOSTS", f"VC_{name}_NUM"


def restart_policies(run: Run, role: Role) -> list[dict[str, Any]]:
    """Returns the policies of a Volcano job and of a task by which pods start again."""
    policies = (*items(run.spec, "policies"), *items(role.tree, "policies"))
    return [mapping(policy) for policy in policies if text(policy, "action").startswith("Restart")]


def workload_restarts(run: Run, role: Role) -> bool:
    """True if a pod of the run may start again after a failure."""
    in_place = role.restart_policy in (None, "Always", "OnFailure")
    group = group_of(run.api_version)
    if group == RAY:
        return bool(integer(run.spec, "backoffLimit"))
    if group == HYPERPOD:
        return integer(run.spec, "runPolicy", "jobMaxRetryCount") != 0
    if is_volcano(run):
        return in_place or bool(restart_policies(run, role))
    if run.kind == "CronJob":
        return integer(role.tree, "backoffLimit") != 0
    # Pods of a LeaderWorkerSet and of the controllers of `apps` always restart.
    return in_place or run.kind != "Pod"
