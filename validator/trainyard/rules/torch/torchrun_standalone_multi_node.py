"""torchrun makes a rendezvous of its own in each pod, so the pods of a multi-node run never find each other.

`--standalone` sets the endpoint to the pod itself; `--rdzv-backend=c10d` without `--rdzv-endpoint` does the same. The
number of nodes stays what it was, from `--nnodes` or from the operator's `PET_NNODES`: each pod then waits alone for
nodes that wait elsewhere, and ends with `RendezvousTimeoutError` after ten minutes.

A job whose torchrun is told one node, or nothing, is left alone: its pods are separate runs. In an elastic PyTorchJob
the operator sets the endpoint.

Remove `--standalone`: in a PyTorchJob with a Master, and in a TrainJob, the operator's variables say all that torchrun
needs. Elsewhere give `--rdzv-backend=c10d` and `--rdzv-endpoint=<first pod>:29400`.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects.torchrun import appended, has_torch_policy, launches, nodes
from validator.model import Command, Container, Role, Run
from validator.rule import Context, Edit, Problem, Remove, Substitute, rule


@rule(
    code="TD010",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "pytorch 2.15.0 torch/distributed/run.py: run, --standalone",
        "pytorch 2.15.0 torch/distributed/elastic/rendezvous/utils.py: parse_rendezvous_endpoint",
    ),
    fix="safe",
)
def torchrun_standalone_multi_node(role: Role, context: Context) -> Iterator[Problem]:
    """A rendezvous that stays in the pod."""
    container, run = role.container, context.run
    if container is None or run is None or not role.trains or (run.nodes or 0) < 2:
        return
    for launch in launches(container):
        stays = launch.has("--standalone")
        expected = nodes(launch, container, run) if stays or _without_endpoint(launch, container, run) else None
        if expected is None or expected[1] < 2:
            continue
        if stays:
            index = launch.words.index("--standalone") if "--standalone" in launch.words else 0
            yield Problem(
                launch.word_at[index],
                f"--standalone keeps the rendezvous in each pod, and torchrun waits for {expected[0]} nodes",
                "remove it" if _told_by_operator(run) else "give --rdzv-backend=c10d and --rdzv-endpoint instead",
                _removal(launch, index, container) if _told_by_operator(run) else (),
            )
        else:
            found = launch.option_at("--rdzv-backend")
            yield Problem(
                found[1] if found is not None else launch.at,
                f"without --rdzv-endpoint each pod is its own c10d rendezvous, and waits for {expected[0]} nodes",
                "add --rdzv-endpoint=<first pod>:29400",
            )


def _told_by_operator(run: Run) -> bool:
    if run.kind == "TrainJob":
        return has_torch_policy(run) is True
    return bool({"PET_MASTER_ADDR", "PET_RDZV_ENDPOINT"} & appended(run))


def _without_endpoint(launch: Command, container: Container, run: Run) -> bool:
    if launch.option("--rdzv-backend") != "c10d" or launch.option("--rdzv-endpoint") is not None:
        return False
    return "PET_RDZV_ENDPOINT" not in appended(run) and container.setting("PET_RDZV_ENDPOINT") is None


def _removal(launch: Command, index: int, container: Container) -> tuple[Edit, ...]:
    if not index:
        return ()
    at = launch.word_at[index]
    if any(script.at.path == at.path for script in container.scripts):
        return (Substitute(at, " --standalone", ""),)
    return (Remove(at),)
