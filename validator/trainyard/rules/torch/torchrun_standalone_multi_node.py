"""torchrun starts a separate rendezvous in each pod, so the pods of a multi-node run never join.

`--standalone` sets the endpoint to the pod itself; `--rdzv-backend=c10d` without `--rdzv-endpoint` does the same. The
number of nodes still comes from `--nnodes` or from the operator's `PET_NNODES`. Each pod then waits alone for nodes
that wait elsewhere, and fails with `RendezvousTimeoutError` after ten minutes.

The rule ignores a job whose torchrun is told one node, or nothing, because its pods are separate runs. In an elastic
PyTorchJob the operator sets the endpoint.

Remove `--standalone`: in a PyTorchJob with a Master, and in a TrainJob, the operator's variables are all that torchrun
needs. Elsewhere pass `--rdzv-backend=c10d` and `--rdzv-endpoint=<first pod>:29400`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.torchrun import has_torch_policy, node_range, operator_variables, torchrun_commands
from trainyard.document.document import Edit, Remove, Substitute
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Command, Container, Role, Run


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
    """A rendezvous within each pod."""
    container, run = role.container, context.run
    if container is None or run is None or not role.trains or (run.nodes or 0) < 2:
        return
    for launch in torchrun_commands(container):
        stays = launch.has("--standalone")
        expected = node_range(launch, container, run) if stays or _without_endpoint(launch, container, run) else None
        if expected is None or expected[1] < 2:
            continue
        if stays:
            index = launch.words.index("--standalone") if "--standalone" in launch.words else 0
            yield Problem(
                launch.word_at[index],
                f"--standalone starts a separate rendezvous in each pod, but torchrun waits for {expected[0]} nodes",
                "remove it" if _told_by_operator(run) else "pass --rdzv-backend=c10d and --rdzv-endpoint instead",
                _removal(launch, index, container) if _told_by_operator(run) else (),
            )
        else:
            found = launch.option_at("--rdzv-backend")
            yield Problem(
                found[1] if found is not None else launch.at,
                f"without --rdzv-endpoint each pod starts its own c10d rendezvous and waits for {expected[0]} nodes",
                "add --rdzv-endpoint=<first pod>:29400",
            )


def _told_by_operator(run: Run) -> bool:
    if run.kind == "TrainJob":
        return has_torch_policy(run) is True
    return bool({"PET_MASTER_ADDR", "PET_RDZV_ENDPOINT"} & operator_variables(run))


def _without_endpoint(launch: Command, container: Container, run: Run) -> bool:
    if launch.option("--rdzv-backend") != "c10d" or launch.option("--rdzv-endpoint") is not None:
        return False
    return "PET_RDZV_ENDPOINT" not in operator_variables(run) and container.setting("PET_RDZV_ENDPOINT") is None


def _removal(launch: Command, index: int, container: Container) -> tuple[Edit, ...]:
    if not index:
        return ()
    at = launch.word_at[index]
    if any(script.at.path == at.path for script in container.scripts):
        return (Substitute(at, " --standalone", ""),)
    return (Remove(at),)
