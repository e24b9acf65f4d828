"""The gang size is not the number of pods: the job never starts, or starts with some pods missing.

Gang schedulers place a job when `minAvailable` pods fit (`minMember` in a PodGroup). If the number is higher than the
number of pods, it is never reached, and the job stays Pending. If it is lower, some of the pods can start and hold GPUs
while the rest waits for capacity, and two such jobs can block each other forever. `torchrun` without elasticity waits
for all its nodes anyway.

In a Job of Volcano the field stands in `spec` and in each task; Volcano rejects a number above the replicas.

The number counts every pod; the MPI launcher may be left out, and so may a task of Volcano with `dependsOn`. Elastic
jobs, by `elasticPolicy`, a range in `--nnodes`, or `--min-np` of Horovod, may start with fewer.

Remove the field, which means all pods, or write their number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from trainyard.analysis.jobs.workloads import is_volcano
from trainyard.analysis.launchers.torchrun import torchrun_commands
from trainyard.analysis.resources.devices import wants_gpu
from trainyard.document.document import Place
from trainyard.document.lookup import integer, mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.programs.launchers import MPI_LAUNCHERS
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Resource, Role, Run

GROUP_ANNOTATIONS = ("scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name")
GROUP_LABELS = ("scheduling.x-k8s.io/pod-group", "pod-group.scheduling.sigs.k8s.io")


@rule(
    code="TP002",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubeflow/training-operator v1.9.0 pkg/controller.v1/common/job.go: ReconcileJobs, minMember",
        "volcano-sh/volcano v1.15.1 pkg/webhooks/admission/jobs/validate/admit_job.go: validateJobCreate",
        "kubeflow/mpi-operator v0.8.0 pkg/controller/podgroup.go: calculateMinAvailable; types.go: MinAvailable",
    ),
    needs=("minAvailable", "minMember", "PodGroup"),
)
def gang_min_member_mismatch(run: Run, context: Context) -> Iterator[Problem]:
    """Gangs whose size is not the number of pods."""
    policy = mapping(run.spec, "runPolicy", "schedulingPolicy")
    place = run.at.child("spec", "runPolicy", "schedulingPolicy", "minAvailable")
    if run.api_version.startswith("kubeflow.org/"):
        yield from _compared(run, run.roles, integer(policy, "minAvailable"), place, "minAvailable")
    if is_volcano(run):
        yield from _of_volcano(run)
    for name in sorted({name for role in run.roles if (name := _group(role))}):
        members = tuple(role for role in run.roles if _group(role) == name)
        for size, at in _pod_groups(context.project, run.namespace, name):
            yield from _compared(run, members, size, at, "minMember")


def _of_volcano(run: Run) -> Iterator[Problem]:
    """A Job of Volcano has a number for the job, where 0 means all pods, and one for each task."""
    size = integer(run.spec, "minAvailable") or None
    yield from _compared(run, run.roles, size, run.at.child("spec", "minAvailable"), "minAvailable")
    for role in run.roles:
        least, place = integer(role.tree, "minAvailable"), role.at.child("minAvailable")
        if least is None or role.replicas is None:
            continue
        if least > role.replicas:
            yield Problem(
                place,
                f"task {role.name} needs {least} pods, but has {role.replicas}: Volcano rejects the job",
                f"write {role.replicas}",
                related=((role.at.child("replicas"), "the number of pods"),),
            )


def _compared(run: Run, roles: tuple[Role, ...], size: int | None, at: Place, field: str) -> Iterator[Problem]:
    counts = [role.replicas for role in roles]
    if size is None or not roles or None in counts:
        return
    pods = sum(count or 0 for count in counts)
    if size > pods:
        reason = f"the gang needs {size} pods, but {run.kind} {run.name} has {pods}, so it never starts"
    elif size < pods - _launchers(roles) and any(wants_gpu(role.pod) for role in roles) and not _may_start_smaller(run):
        reason = f"{size} of the {pods} pods of {run.kind} {run.name} can start and hold GPUs without the others"
    else:
        return
    yield Problem(
        at, f"`{field}`: {reason}", f"write {pods}", related=((roles[0].at.child("replicas"), "the number of pods"),)
    )


def _launchers(roles: tuple[Role, ...]) -> int:
    # An MPI launcher that is created after all workers are ready is not part of the gang, nor is a task that waits.
    return sum(role.replicas or 0 for role in roles if role.name == "Launcher" or "dependsOn" in role.tree)


def _may_start_smaller(run: Run) -> bool:
    if run.elastic is not None or not (run.kind in ("PyTorchJob", "JAXJob", "MPIJob") or _waits_for_all(run)):
        # The manifest does not show if other kinds can work with missing pods.
        return True
    for role in run.roles:
        for command in role.container.commands if role.container is not None else ():
            if ":" in (command.option("--nnodes") or "") or command.has("--min-np", "--min-num-proc"):
                return True
    return False


def _waits_for_all(run: Run) -> bool:
    """Returns true for a Job of Volcano whose processes torchrun or mpirun starts: these wait for all pods."""
    if not is_volcano(run):
        return False
    containers = [role.container for role in run.roles if role.container is not None]
    if any(command.program in MPI_LAUNCHERS for container in containers for command in container.commands):
        return True
    nodes = [launch.option("--nnodes") for container in containers for launch in torchrun_commands(container)]
    return bool(nodes) and all(told is not None and ":" not in told and told != "1" for told in nodes)


def _group(role: Role) -> str:
    names = [text(role.pod.annotations, name) for name in GROUP_ANNOTATIONS]
    return next((name for name in (*names, *(text(role.pod.labels, label) for label in GROUP_LABELS)) if name), "")


def _pod_groups(project: Project, namespace: str, name: str) -> Iterator[tuple[int | None, Place]]:
    group = _pod_groups_by_name.of(project).get((namespace, name))
    if group is not None and _runs_by_group.of(project)[name] == 1:
        yield integer(group.tree, "spec", "minMember"), group.at.child("spec", "minMember")


_runs_by_group: LastIndex[Project, Counter[str]] = LastIndex(
    lambda project: Counter(name for run in project.runs for name in {_group(role) for role in run.roles})
)
_pod_groups_by_name: LastIndex[Project, dict[tuple[str, str], Resource]] = LastIndex(
    lambda project: {(group.namespace, group.name): group for group in project.of_kind("PodGroup")}
)
