"""The rank of the node is the index in its Job, which each Job of a JobSet counts from 0, so ranks are taken twice.

A replicated job with `replicas: 2` and four pods each creates two Jobs. `JOB_COMPLETION_INDEX` is 0 to 3 in each.
With `--nnodes=8 --node-rank=$JOB_COMPLETION_INDEX`, two pods claim each of the ranks 0 to 3, and nobody has the ranks 4
to 7: all wait until the timeout of the rendezvous.

The rule checks torchrun with the static rendezvous, which is its default, and `accelerate launch`, if their number of
nodes is written out and above the number of pods of one Job. Jobs that train alone have a number that is not above it.

Add the index of the Job times its pods, which the annotation `jobset.sigs.k8s.io/job-index` holds. The label
`jobset.sigs.k8s.io/job-global-index` counts the Jobs of all replicated jobs. Or write one Job with all pods.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.pod_names import job_counts
from trainyard.analysis.launchers.node_launches import node_launches
from trainyard.document.lookup import decimal, items, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Container, Role
from trainyard.startup import pattern

_INDEX = pattern(r"\$[({]?([A-Za-z_]\w*)[)}]?\Z")
_VARIABLE = "JOB_COMPLETION_INDEX"
_ANNOTATION = "batch.kubernetes.io/job-completion-index"


@rule(
    code="TD136",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes-sigs/jobset v0.10.1 pkg/controllers/jobset_controller.go: constructJob, one Job for each replica",
        "kubernetes.io/docs/concepts/workloads/controllers/job: JOB_COMPLETION_INDEX counts the pods of one Job",
        "pytorch 2.15.0 torch/distributed/run.py: --node-rank, --nnodes",
    ),
    needs=("replicatedJobs",),
)
def node_rank_repeats_in_jobs(role: Role, context: Context) -> Iterator[Problem]:
    """Report ranks that are the index in one of several Jobs."""
    container, (jobs, pods) = role.container, job_counts(context.run, role)
    if container is None or jobs < 2:
        return
    for launch, rank, count in node_launches(container):
        told, nodes = launch.option_at(rank), decimal(launch.option(count) or "")
        if told is None or nodes is None or nodes <= pods or not _is_index(told[0], container):
            continue
        if launch.option("--rdzv-backend") in (None, "static") and not container.setting("PET_RDZV_BACKEND"):
            yield Problem(
                told[1],
                f"{rank} is 0 to {pods - 1} in each of {jobs} Jobs of `{role.name}`, and the other ranks of {nodes} "
                "nodes are missing",
                f"add {pods} times the index of the Job, or write one Job with {jobs * pods} pods",
            )


def _is_index(value: str, container: Container) -> bool:
    """True for a variable with the index of the pod in its Job, and for a single one with its value."""
    match = _INDEX.match(value)
    if match is None:
        return False
    found = [one for one in container.settings if one.name == match[1]]
    if match[1] == _VARIABLE:
        return not found
    if len(found) != 1:
        return False
    inner = _INDEX.match(found[0].value or "")
    return (inner is not None and inner[1] == _VARIABLE) or _reads_annotation(match[1], container)


def _reads_annotation(name: str, container: Container) -> bool:
    for entry in items(container.tree, "env"):
        if text(entry, "name") == name:
            return _ANNOTATION in text(entry, "valueFrom", "fieldRef", "fieldPath")
    return False
