"""After a restart by torchrun, ranks read the addresses of processes that have ended.

With `--max-restarts`, torchrun starts all processes again when one fails. By default its agents share one store with
the processes, which outlives them, and since PyTorch 2.6 every attempt writes the same keys. A rank of the next attempt
finds what a rank of the last one wrote, an address or the id of a NCCL communicator. It connects to a process that has
ended: `Connection refused`, or a hang until the timeout. The restart is used up, and in the end the pod fails as
without restarts. It is a race: of 16 restarts of two ranks with gloo, 2 worked, and 3 of 16 with the static rendezvous.

With `TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1`, in the environment of torchrun, rank 0 of each attempt hosts a new store
at a free port, and all restarts work: 20 of 20 with `--standalone`, 20 of 20 of two torchruns, and 20 of 20 of two
`accelerate launch`. Only the dynamic rendezvous reads the variable, and only the value `1` counts.
That is the rendezvous of an elastic PyTorchJob, of `--rdzv-backend=c10d`, and of `--standalone`.

The static rendezvous ignores it: there torchrun takes the address from `--master-addr` or `PET_MASTER_ADDR`, which the
operators set in a PyTorchJob with a Master, and in a TrainJob. Pass `--rdzv-backend=c10d` and
`--rdzv-endpoint=<first pod>:29400`, or `--standalone` in a single pod, and set the variable. Or remove
`--max-restarts`, and let the operator restart the pods.

`accelerate launch --max_restarts` restarts with torchrun. It uses the static rendezvous, also if its configuration file
names another `rdzv_backend`: only the option `--rdzv_backend=c10d` counts.

The rule ignores a job of one process, and the `etcd` backend, which shares no store. Releases before 2.6 separate the
attempts: the rule needs to know the version, from the target or from the image of the container. It assumes that the
variable is set if variables come from a file or object that is not in the files.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis import versions
from trainyard.analysis.launchers import rendezvous
from trainyard.analysis.launchers.accelerate import accelerate_commands, starts_torchrun
from trainyard.analysis.launchers.rendezvous import VARIABLE
from trainyard.analysis.launchers.torchrun import (
    has_torch_policy,
    node_range,
    processes_per_node,
)
from trainyard.analysis.pods.shared_store import shared_store
from trainyard.document.document import Edit, Place
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.versions import since
from trainyard.model.run import Command, Container, Run


@rule(
    code="TD013",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "pytorch 2.15.0 torch/distributed/rendezvous.py: _create_c10d_store; "
        "torch/distributed/elastic/rendezvous/dynamic_rendezvous.py: use_agent_store, next_rendezvous; "
        "static_tcp_rendezvous.py: use_agent_store",
        "pytorch 2.5.1 and 2.6.0 torch/distributed/rendezvous.py: the prefix for each attempt is gone in 2.6",
        "pytorch 2.15.0 torchrun on CPU, with and without the variable, --standalone, c10d and static (seen)",
        "pytorch issues 135712 and 167288",
        "accelerate 1.15.0 on CPU, with both rendezvous, with and without the variable, and with a configuration file "
        "(seen)",
    ),
    fix="safe",
    needs=("max-restarts", "max_restarts", "maxRestarts", "MAX_RESTARTS"),
)
def torchrun_restart_on_shared_store(run: Run, context: Context) -> Iterator[Problem]:
    """Report restarts of torchrun whose ranks share the store of the last attempt."""
    found: dict[Place, Problem] = {}
    for container in (role.container for role in run.training_roles):
        if container is None or not since((release := versions.torch(context, container)).version, rendezvous.FIRST):
            continue
        for problem in _problems(container, run, context):
            problem = problem._replace(rests_on=release)
            first = found.get(problem.at)
            found[problem.at] = problem if first is None else first._replace(edits=_joined(first, problem))
    yield from found.values()


def _joined(first: Problem, other: Problem) -> tuple[Edit, ...]:
    """Returns the edits of two roles with one cause, the policy. Roles that share a pod by a YAML alias need one."""
    changed = [edit.at.document.locate(edit.at) for edit in first.edits]
    return (*first.edits, *(edit for edit in other.edits if edit.at.document.locate(edit.at) not in changed))


def _problems(container: Container, run: Run, context: Context) -> Iterator[Problem]:
    for launch in rendezvous.starts(container, run):
        restarts = rendezvous.restarts(launch, container, run)
        if restarts is None or _is_alone(launch, container, run):
            continue
        backend = rendezvous.backend(launch, container, run)
        name = backend[0] if backend is not None else None
        yield from _restarted("torchrun", restarts, name, _instead(launch, container, run), container, context)
    yield from _problems_of_accelerate(container, context)


def _problems_of_accelerate(container: Container, context: Context) -> Iterator[Problem]:
    """Ignores the `PET_` variables, as Accelerate does."""
    for launch in accelerate_commands(container):
        restarts = rendezvous.positive(launch.option_at("--max-restarts"))
        if restarts is not None and starts_torchrun(launch, container):
            backend = (launch.option("--rdzv-backend") or "static").lower()
            yield from _restarted("Accelerate", restarts, backend, "pass --rdzv_backend=c10d", container, context)


def _restarted(
    program: str, restarts: tuple[int, Place], backend: str | None, instead: str, container: Container, context: Context
) -> Iterator[Problem]:
    """Yields the problem of restarts with a rendezvous; `instead` are the options of one that they work with."""
    number, at = restarts
    if backend in rendezvous.DYNAMIC:
        yield from _without_variable(number, at, container, context)
    elif backend == "static":
        yield Problem(
            at,
            f"the {number} restarts of {program} mostly fail: all attempts share the store of a static rendezvous",
            f"{instead}, and set {VARIABLE} to 1; or remove the restarts",
        )


def _is_alone(launch: Command, container: Container, run: Run) -> bool:
    """Returns true if the run has one process."""
    nodes = node_range(launch, container, run)
    told = processes_per_node(launch, container, run)
    processes = str(container.gpus) if told in ("auto", "gpu") and container.gpus else told
    return nodes is not None and nodes[1] == 1 and processes == "1"


def _without_variable(number: int, at: Place, container: Container, context: Context) -> Iterator[Problem]:
    shared = shared_store(container, context)
    if shared is not None:
        reason = f"ranks find addresses of the last attempt: {shared.reason}"
        yield Problem(
            shared.at or at,
            f"the {number} restarts of torchrun mostly fail, because {reason}",
            f"set {VARIABLE} to 1",
            shared.edits,
            ((at, "the restarts"),) if shared.at is not None else (),
        )


def _instead(launch: Command, container: Container, run: Run) -> str:
    """Returns the options of a rendezvous that restarts work with."""
    nodes = node_range(launch, container, run)
    if nodes is not None and nodes[1] == 1:
        return "pass --standalone"
    host = "$(PET_MASTER_ADDR)" if run.kind == "TrainJob" and has_torch_policy(run) else "<first pod>"
    return f"pass --rdzv-backend=c10d and --rdzv-endpoint={host}:29400"
