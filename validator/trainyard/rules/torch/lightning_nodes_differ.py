"""Lightning waits for other ranks than those that are started, so the program stops or hangs.

`num_nodes` of Lightning's Trainer is 1 unless it is told, and `devices` counts the processes of one node. Under
torchrun, their product must be the number of ranks: with `--nnodes=2` and no `num_nodes`, Lightning stops with "the
product does not match the world size". Without a launcher, it starts `devices` processes in its pod and waits for those
of `num_nodes` pods, for 30 minutes.

The rule compares numbers in the command: those of LightningCLI (`--trainer.num_nodes`) and of Hydra
(`trainer.num_nodes`), as NeMo has them. It counts pods only if all of them train, and no pod that is an object of its
own.

Write the number of pods in `num_nodes`, and that of the processes in each of them in `devices`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.lightning_commands import LightningSizes, is_plain, lightning_sizes
from trainyard.analysis.launchers.torchrun import node_range, processes_per_node, torchrun_scripts
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.kubeflow import RUNTIMES
from trainyard.loaders.manifests.node_counts import count
from trainyard.model.run import Command, Container, Role, Run


@rule(
    code="TD073",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "Lightning 2.6.6 fabric/plugins/environments/torchelastic.py: validate_settings",
        "Lightning 2.6.6 pytorch/trainer/trainer.py: num_nodes is 1; fabric/plugins/environments/lightning.py",
        "github.com/Lightning-AI/pytorch-lightning issue 3029, github.com/NVIDIA-NeMo/Speech issue 1974",
    ),
    needs=("trainer.",),
)
def lightning_nodes_differ(role: Role, context: Context) -> Iterator[Problem]:
    """Report numbers of nodes that differ from those of the launcher or of the job."""
    container, run = role.container, context.run
    if container is None or run is None or not role.trains:
        return
    for launch, script in torchrun_scripts(container):
        sizes = lightning_sizes(script)
        if sizes is not None:
            yield from _under_torchrun(sizes, launch, container, run)
    for command in container.commands:
        sizes = lightning_sizes(command) if is_plain(command) else None
        if sizes is not None and _counts_pods(run):
            yield from _alone(sizes, role, run)


def _under_torchrun(sizes: LightningSizes, launch: Command, container: Container, run: Run) -> Iterator[Problem]:
    nodes = node_range(launch, container, run)
    processes = count(processes_per_node(launch, container, run))
    if nodes is None or nodes[0] != nodes[1] or not processes or sizes.nodes is None or sizes.devices is None:
        return
    wanted, started = sizes.nodes * sizes.devices, nodes[0] * processes
    if wanted != started:
        yield Problem(
            sizes.at,
            f"Lightning has num_nodes {sizes.nodes} and devices {sizes.devices}, which are {wanted} ranks, and "
            f"torchrun starts {started}: every process stops",
            f"set num_nodes to {nodes[0]} and devices to {processes}",
        )


def _alone(sizes: LightningSizes, role: Role, run: Run) -> Iterator[Problem]:
    # Several groups in one JobSet may train independently, and those of a LeaderWorkerSet do.
    own = role.replicas // run.groups if role.replicas is not None else None
    if sizes.nodes is None or run.nodes is None or sizes.nodes <= run.nodes or sizes.nodes == own:
        return
    pods = "one pod" if run.nodes == 1 else f"{run.nodes} pods"
    yield Problem(
        sizes.at,
        f"Lightning waits for num_nodes {sizes.nodes}, and the job has {pods}: the processes wait until they time out",
        f"set num_nodes to {run.nodes}",
    )


def _counts_pods(run: Run) -> bool:
    # A pod that is an object of its own may be one of several.
    return run.is_job and run.kind not in (*RUNTIMES, "Pod")
