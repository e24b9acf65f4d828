"""`--nnodes` names another number of pods than the job starts, so the rendezvous never comes together.

torchrun starts the training when the fewest nodes that `--nnodes` allows have joined. With fewer pods than that every
one of them waits, with its GPUs, until the join time-out of ten minutes, and ends with `RendezvousTimeoutError`. With
more pods than the most that it allows the ones left over wait for a place, and end in errors when the others are done,
which counts against `backoffLimit`.

The pods are the replicas of all roles that train, the Master among them. A range such as `2:8` must contain their
number. The rule looks at numbers that are written down; in a script, `${PET_NNODES}` or the operator's variable is the
way to have them agree.

Write the number of pods, or leave the option out in a PyTorchJob: the operator sets it.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects.torchrun import bounds, launches
from validator.facts.kubeflow import RUNTIMES
from validator.fields import whole
from validator.model import Role, Run
from validator.rule import Context, Problem, rule


@rule(
    code="TD009",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "pytorch 2.15.0 torch/distributed/run.py: parse_min_max_nnodes; argparse_util.py: env",
        "pytorch 2.15.0 torchrun: RendezvousTimeoutError after join_timeout with one node of two (seen)",
    ),
    needs=("nnodes", "NNODES"),
)
def torchrun_nnodes_replica_mismatch(role: Role, context: Context) -> Iterator[Problem]:
    """A number of nodes that the job does not have."""
    container, run = role.container, context.run
    if container is None or run is None or not role.trains or not _countable(run) or run.nodes is None:
        return
    for launch in launches(container):
        found = launch.option_at("--nnodes")
        limits = bounds(found[0]) if found is not None else None
        if found is None or limits is None:
            continue
        low, high = limits
        # A fixed number beside an elasticPolicy is another rule's.
        if run.elastic is not None and low == high:
            continue
        # Several groups in one JobSet may each train by themselves.
        if any(count is not None and low <= count <= high for count in (run.nodes, role.replicas)):
            continue
        waits = "torchrun waits for the rest and times out" if run.nodes < low else "the ones left over never join"
        yield Problem(
            found[1],
            f"--nnodes={found[0]}, but the job has {run.nodes} pods: {waits}",
            f"write --nnodes={run.nodes}",
        )


def _countable(run: Run) -> bool:
    """Whether the files say how many pods join, and all of them do."""
    if run.kind in RUNTIMES:
        return False
    if run.kind == "Job" and whole(run.spec, "completions") not in (None, whole(run.spec, "parallelism") or 1):
        return False
    containers = [role.container for role in run.training_roles]
    return all(container is not None and any(launches(container)) for container in containers)
