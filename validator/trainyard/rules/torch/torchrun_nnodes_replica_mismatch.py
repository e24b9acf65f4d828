"""`--nnodes` is not the number of pods of the job, so the rendezvous does not complete.

torchrun starts the training when the minimum number of nodes in `--nnodes` have joined. With fewer pods than that,
every pod waits, with its GPUs, until the join timeout of ten minutes, and fails with `RendezvousTimeoutError`. With
more pods than the maximum, the extra pods wait for a place and fail when the others are done, which counts against
`backoffLimit`.

`dlrover-run` waits likewise. The pods are the replicas of all roles that train, including the Master. A Job runs at
most `parallelism` pods at the same time, and no more than its `completions`. A range such as `2:8` must contain their
number. The rule checks literal numbers; in a script, `${PET_NNODES}` or the operator's variable keeps them in
agreement. A pod that is its own master, as with `--nnodes=1 --master-addr=localhost`, trains alone and waits for
nobody. The Jobs of a JobSet train alone if their pods compute the address of the rendezvous.

Write the number of pods, or remove the option in a PyTorchJob: the operator sets it.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.pod_names import job_counts
from trainyard.analysis.jobs.workloads import is_batch_job
from trainyard.analysis.launchers.torchrun import LOCAL, torchrun_commands
from trainyard.document.lookup import integer
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.kubeflow import RUNTIMES
from trainyard.facts.programs.launchers import DLROVER
from trainyard.loaders.manifests.node_counts import bounds
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Command, Container, Role, Run, Script
from trainyard.startup import pattern

_ASSIGNED = pattern(r"(?m)(?:^|(?<=[\s;&]))([A-Za-z_]\w*)=[\"']?([\w.:\[\]-]*)")


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
    """A number of nodes that is not the job's number of pods."""
    container, run = role.container, context.run
    if container is None or run is None or not role.trains or not _countable(run) or run.nodes is None:
        return
    for launch in _starts(container):
        found = launch.option_at("--nnodes")
        limits = bounds(found[0]) if found is not None else None
        if found is None or limits is None:
            continue
        low, high = limits
        # The pods of a Job with more completions may work alone, one after the other.
        if _runs_in_turns(run) and low <= run.nodes:
            continue
        if high == 1 and _is_alone(launch, container):
            continue
        # Another rule covers a fixed number beside an elasticPolicy.
        if run.elastic is not None and low == high:
            continue
        # Several groups in one JobSet may train independently, and those of a LeaderWorkerSet do.
        own = role.replicas // run.groups if role.replicas is not None else None
        if any(count is not None and low <= count <= high for count in (run.nodes, own)):
            continue
        if low <= job_counts(run, role)[1] <= high and _meets_per_job(launch, container):
            continue
        waits = f"{launch.program} waits for the rest and times out" if run.nodes < low else "the extra pods never join"
        pods = "1 pod" if run.nodes == 1 else f"{run.nodes} pods"
        has = f"runs {pods} at a time" if _runs_in_turns(run) else f"has {pods}"
        yield Problem(
            found[1],
            f"--nnodes={found[0]}, but the job {has}: {waits}",
            f"write --nnodes={run.nodes}",
        )


def _starts(container: Container) -> list[Command]:
    return [*torchrun_commands(container), *(one for one in container.commands if one.program == DLROVER.name)]


def _is_alone(launch: Command, container: Container) -> bool:
    """Returns true if the pod is its own master: the pods of the job train a model each."""
    for option in ("--rdzv-endpoint", "--master-addr"):
        told = launch.option(option)
        host = (told or "").rpartition(":")[0] or (told or "")
        if host in LOCAL or (host.startswith("$") and _value(container, host.strip("$(){}")) in LOCAL):
            return True
    return False


def _meets_per_job(launch: Command, container: Container) -> bool:
    """True if the address may be another one in each Job of a JobSet: then each Job trains a model of its own."""
    told = launch.option("--rdzv-endpoint") or launch.option("--master-addr") or ""
    host = told.rpartition(":")[0] or told
    name = host.strip("$(){}")
    return "$" in host and not (name.isidentifier() and _value(container, name))


def _value(container: Container, name: str) -> str:
    """Returns the only value that a container and its scripts give a variable; empty if there is none or more."""
    setting = container.setting(name)
    found = _given.of(container.scripts).get(name, frozenset()) | ({setting.value} if setting is not None else set())
    return next(iter(found)) or "" if len(found) == 1 else ""


def _find_given(scripts: tuple[Script, ...]) -> dict[str, frozenset[str | None]]:
    """Returns the values that scripts assign to each variable."""
    given: dict[str, set[str | None]] = {}
    for script in scripts:
        for match in _ASSIGNED.finditer(script.text):
            given.setdefault(match[1], set()).add(match[2])
    return {name: frozenset(values) for name, values in given.items()}


# A script may have many launchers.
_given: LastIndex[tuple[Script, ...], dict[str, frozenset[str | None]]] = LastIndex(_find_given)


def _runs_in_turns(run: Run) -> bool:
    completions = integer(run.spec, "completions") if is_batch_job(run) else None
    return completions is not None and run.nodes is not None and completions > run.nodes


def _countable(run: Run) -> bool:
    """Returns true if the files show the number of pods, and all of them join."""
    # A pod that is an object of its own may be one of several.
    if run.kind in (*RUNTIMES, "Pod"):
        return False
    containers = [role.container for role in run.training_roles]
    return all(container is not None and bool(_starts(container)) for container in containers)
