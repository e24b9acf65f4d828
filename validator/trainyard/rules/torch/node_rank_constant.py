"""Every pod gets the same `--node-rank`, so the ranks of the pods collide and the rendezvous fails.

Pods of one role run the same command. With `--node-rank=0` written out, each of them claims to be the first node, and
all wait until the timeout for a node 1 that never comes. For the rendezvous backend `c10d`, torchrun assigns the ranks
itself and ignores the option.

The rule checks torchrun with the static rendezvous, which is its default, and Accelerate's `--machine_rank`, in roles
with more than one pod, and in lone pods or Jobs of one file that meet at the same address. Without that option,
`machine_rank` of the configuration counts, which all pods read from one ConfigMap. A script that tests the name or the
index of its pod is left alone: another pod takes another branch.

Use the index of the pod: `$(JOB_COMPLETION_INDEX)` in an Indexed Job or a JobSet, nothing at all in a PyTorchJob, or
`--rdzv-backend=c10d`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from trainyard.analysis.launchers.accelerate import accelerate_commands
from trainyard.analysis.launchers.accelerate_config import accelerate_configs
from trainyard.analysis.launchers.node_launches import node_launches
from trainyard.analysis.launchers.torchrun import operator_variables
from trainyard.document.document import Place
from trainyard.document.lookup import integer
from trainyard.engine.rule import Context, Problem, rule
from trainyard.loaders.manifests.node_counts import bounds
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Command, Container, Project, Role, Run

# Kinds of which each object is often one node.
ALONE = ("Pod", "Job", "StatefulSet", "Deployment")
# A condition on the name or the index of the pod.
_BRANCH = re.compile(
    r"(?:\[|\btest|\bcase)\s[^\n]{0,80}?\$[({]?(?:HOSTNAME|hostname|POD_NAME|POD_INDEX|ORDINAL|INDEX|JOB_COMPLETION_INDEX|"
    r"NODE_RANK|RANK|VC_TASK_INDEX|LWS_WORKER_INDEX)\b"
)
REFERENCE = re.compile(r"\$[({]?([A-Za-z_]\w*)[)}]?\Z")


@rule(
    code="TD019",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "pytorch 2.15.0 torch/distributed/run.py: config_from_args, the static rendezvous takes --node-rank",
        "pytorch 2.15.0 torchrun on CPU, two nodes with rank 0 on one machine: one waits, the other fails (seen)",
        "huggingface/accelerate 1.15.0 commands/launch.py: --machine_rank",
        "github.com/huggingface/accelerate issue 2265; github.com/narumiruna/pytorch-distributed-example issue 19",
    ),
    needs=("rank", "RANK"),
)
def node_rank_constant(role: Role, context: Context) -> Iterator[Problem]:
    """A number as the rank of all pods of a role."""
    container, run = role.container, context.run
    if container is None or run is None or not role.trains:
        return
    others = [] if (role.replicas or 1) > 1 else [*_of_roles_before(role, run), *_of_runs_before(container, context)]
    if (role.replicas or 1) < 2 and not others:
        return
    if (role.replicas or 1) > 1:
        yield from _of_configuration(role, container, context)
    for launch, option, nodes in node_launches(container):
        told = launch.option_at(option)
        most = bounds(launch.option(nodes) or "")
        if told is None or launch.has("--standalone") or (most is not None and most[1] < 2):
            continue
        if launch.option("--rdzv-backend") not in (None, "static") or container.setting("PET_RDZV_BACKEND"):
            continue
        if run.elastic is not None and "PET_RDZV_BACKEND" in operator_variables(run):
            continue
        if any(_BRANCH.search(script.text) for script in container.scripts):
            continue
        number = _constant(told[0], container, told[1])
        if number is not None and ((role.replicas or 1) > 1 or number[0] in others):
            who = f"all {role.replicas} pods get" if (role.replicas or 1) > 1 else _both(role, run)
            yield Problem(
                number[1],
                f"{who} {option}={number[0]}, so their ranks collide",
                "use the index of the pod, or `--rdzv-backend=c10d`, which assigns the ranks",
            )


def _both(role: Role, run: Run) -> str:
    return f"{role.name} and another role get" if run.kind == "PyTorchJob" else f"{run.name} and another {run.kind} get"


def _of_runs_before(container: Container, context: Context) -> list[str]:
    """Returns the constant ranks that lone pods before this one in the file have at the same address."""
    run = context.run
    if run is None or run.kind not in ALONE:
        return []
    first = _first.of(context.project)
    return [one.number for one in _ranks(container, run) if first.get(one, run.at) != run.at]


class _Rank(NamedTuple):
    """A constant rank of a lone pod, and where its nodes meet."""

    kind: str
    namespace: str
    source: int
    rendezvous: tuple[str | None, str | None]
    number: str


def _ranks(container: Container, run: Run) -> Iterator[_Rank]:
    for launch, option, _ in node_launches(container):
        told, meeting = launch.option_at(option), _rendezvous(launch)
        number = _constant(told[0], container, told[1]) if told and "$" not in (meeting[0] or "$") else None
        if number is not None:
            yield _Rank(run.kind, run.namespace, id(run.at.document.source), meeting, number[0])


def _find_first(project: Project) -> dict[_Rank, Place]:
    found: dict[_Rank, Place] = {}
    for run in project.runs:
        for container in run.containers if run.kind in ALONE and run.nodes in (1, None) else ():
            for one in _ranks(container, run):
                found.setdefault(one, run.at)
    return found


# Each pod asks: comparing all with all would take quadratic time.
_first: LastIndex[Project, dict[_Rank, Place]] = LastIndex(_find_first)


def _rendezvous(launch: Command) -> tuple[str | None, str | None]:
    """Returns the address where the nodes of a launch meet, and their number."""
    address = launch.option("--master-addr", "--rdzv-endpoint", "--main-process-ip")
    return address, launch.option("--nnodes", "--num-machines")


def _of_configuration(role: Role, container: Container, context: Context) -> Iterator[Problem]:
    for launch in accelerate_commands(container):
        name = (launch.option("--config-file") or "").rpartition("/")[2]
        if not name or launch.has("--machine-rank") or launch.option("--rdzv-backend") not in (None, "static"):
            continue
        for config in accelerate_configs(context.project):
            rank, machines = integer(config.tree, "machine_rank"), integer(config.tree, "num_machines")
            backend = config.tree.get("rdzv_backend", "static")
            if config.name == name and rank is not None and (machines or 1) > 1 and backend == "static":
                yield Problem(
                    config.at.child("machine_rank"),
                    f"all {role.replicas} pods read machine_rank {rank} from {name}, so their ranks collide",
                    "pass `--machine_rank` with the index of the pod",
                )


def _of_roles_before(role: Role, run: Run) -> list[str]:
    """Returns the constant ranks of the roles before this one, of a job whose roles train together."""
    found: list[str] = []
    for other in run.training_roles if run.kind == "PyTorchJob" else ():
        if role.is_same(other):
            break
        for launch, option, _ in node_launches(other.container) if other.container is not None else ():
            told = launch.option_at(option)
            number = _constant(told[0], other.container, told[1]) if told and other.container else None
            found += [number[0]] if number is not None else []
    return found


def _constant(value: str, container: Container, at: Place) -> tuple[str, Place] | None:
    """Returns a number, written out or in a variable of the container that is set once."""
    if value.isdecimal():
        return value, at
    match = REFERENCE.match(value)
    found = [setting for setting in container.settings if match is not None and setting.name == match[1]]
    if len(found) != 1 or not (found[0].value or "").isdecimal():
        return None
    return found[0].value or "", found[0].at
