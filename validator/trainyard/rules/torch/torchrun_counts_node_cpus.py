"""torchrun without GPUs starts one process for each CPU of the node, whatever the CPU limit of the pod is.

`--nproc-per-node=auto` is the number of GPUs if PyTorch sees any, and otherwise `os.cpu_count()`, which is that of the
node. A pod with a limit of 4 CPUs on a node with 64 starts 64 processes: they run out of memory, or are throttled until
the rendezvous times out. The operator of a PyTorchJob sets `auto` in each pod unless `nprocPerNode` names a number, so
plain `torchrun` does the same there.

The rule checks pods whose containers request neither accelerators nor device claims.

Write the number of processes, in a PyTorchJob as `nprocPerNode: "1"`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.launchers.torchrun import processes_per_node, torchrun_commands
from trainyard.analysis.pods.environment import has_unknown_variables
from trainyard.analysis.resources.devices import wants_gpu
from trainyard.document.document import Place
from trainyard.document.lookup import items
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Command, Role, Run

EVERY_CPU = ("auto", "cpu")


@rule(
    code="TD020",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "pytorch 2.15.0 torch/distributed/run.py: determine_local_world_size",
        "kubeflow/training-operator v1.9.3 pkg/controller.v1/pytorch/envvar.go: PET_NPROC_PER_NODE",
        "github.com/kubeflow/trainer issue 2407",
    ),
    needs=("torchrun", "torch.distributed"),
)
def torchrun_counts_node_cpus(role: Role, context: Context) -> Iterator[Problem]:
    """As many processes as the node has CPUs."""
    run, container = context.run, role.container
    if run is None or container is None or not role.trains or wants_gpu(role.pod) or not has_all_pods(run):
        return
    if items(role.pod.tree, "resourceClaims") or has_unknown_variables(container, context):
        return
    cpus = container.quantity("cpu")
    for launch in torchrun_commands(container) if cpus is not None else ():
        if processes_per_node(launch, container, run) in EVERY_CPU:
            yield Problem(
                _place(launch, run),
                f"`auto` starts a process for each CPU of the node, but {container.name} has {cpus} CPUs",
                "write the number of processes per pod as a number, or pass --nproc-per-node",
            )


def _place(launch: Command, run: Run) -> Place:
    told = launch.option_at("--nproc-per-node")
    if told is not None:
        return told[1]
    return run.at.child("spec", "nprocPerNode") if "nprocPerNode" in run.spec else launch.word_at[0]
