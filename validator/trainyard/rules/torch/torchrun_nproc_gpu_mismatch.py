"""The launcher starts a number of processes that does not match the container's GPUs.

Each process uses the GPU with the number of its `LOCAL_RANK`. With more processes than GPUs, the extra processes fail
with `invalid device ordinal` when they choose their device, and torchrun stops the rest. With fewer, paid GPUs are
idle, unless the program itself places its model on several GPUs of one process. torchrun starts one process if
the number is not set.

The number of processes comes from `--nproc-per-node` (`--num_gpus` of deepspeed, `-n` of composer), from `nprocPerNode`
of a PyTorchJob, from a TrainJob's `numProcPerNode` or from `PET_NPROC_PER_NODE`; the number of GPUs is the container's
limit. The rule ignores containers with MIG devices or `CUDA_VISIBLE_DEVICES`.

Write the number of GPUs, or `gpu`. If a process uses several GPUs on purpose, suppress the finding with that reason.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.torchrun import has_torch_policy, processes_per_node, torchrun_commands
from trainyard.document.document import Place
from trainyard.document.lookup import integer
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.kubeflow import RUNTIMES
from trainyard.facts.programs.launchers import ALL, launcher_in
from trainyard.loaders.manifests.node_counts import count
from trainyard.model.run import Command, Container, Role, Run

MIG = "nvidia.com/mig-"


@rule(
    code="TD008",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "pytorch 2.15.0 torch/distributed/run.py: --nproc-per-node, LOCAL_RANK",
        "kubeflow/training-operator v1.9.3 pkg/controller.v1/pytorch/envvar.go: PET_NPROC_PER_NODE",
    ),
    needs=("numProcPerNode", *(launcher.name for launcher in ALL if launcher.per_node)),
)
def torchrun_nproc_gpu_mismatch(role: Role, context: Context) -> Iterator[Problem]:
    """Processes without a GPU, or GPUs without a process."""
    container, run = role.container, context.run
    if container is None or run is None or not role.trains or _unclear(container):
        return
    devices = container.gpus
    yield from _of_others(container)
    yield from _of_runtime(container, run)
    for launch in torchrun_commands(container):
        started = count(processes_per_node(launch, container, run))
        if not started or not devices or devices == started:
            continue
        what = "the extra processes fail without a device" if started > devices else "the other GPUs are idle"
        yield Problem(
            _place(launch, container, run),
            f"torchrun starts {started} process{'es' * (started > 1)} for {devices} GPUs: {what}",
            f"write {devices}, or `gpu`",
        )


def _of_runtime(container: Container, run: Run) -> Iterator[Problem]:
    """Yields the problem of a TrainJob whose runtime starts torchrun, if no command shows it."""
    if run.kind != "TrainJob" or container.commands or has_torch_policy(run) is not True:
        return
    started, devices = integer(run.spec, "trainer", "numProcPerNode"), container.gpus
    if started and devices and started != devices:
        what = "the extra processes fail without a device" if started > devices else "the other GPUs are idle"
        at = run.at.child("spec", "trainer", "numProcPerNode")
        yield Problem(
            at, f"torchrun starts {started} processes for {devices} GPUs: {what}", f"write {devices}, or `auto`"
        )


def _of_others(container: Container) -> Iterator[Problem]:
    """Yields the problems of launchers with options of their own, such as `deepspeed --num_gpus`."""
    for command in container.commands:
        start = launcher_in(command.words)
        if start is None or start.launcher.takes_torchrun or not start.launcher.per_node:
            continue
        # The program has its own options, which may have the same names.
        end = next((n for n, word in enumerate(command.words) if word.endswith(".py")), len(command.words))
        own = Command(command.words[:end], command.word_at[:end], command.at)
        found = own.option_at(*start.launcher.per_node)
        started, devices = count(found[0]) if found is not None else None, container.gpus
        if found is None or not started or not devices or started == devices:
            continue
        what = "the extra processes fail without a device" if started > devices else "the other GPUs are idle"
        yield Problem(
            found[1],
            f"{start.launcher.name} starts {started} process{'es' * (started > 1)} for {devices} GPUs: {what}",
            f"write {devices}",
        )


def _unclear(container: Container) -> bool:
    mig = any(name.startswith(MIG) for name in {*container.limits, *container.requests})
    return mig or container.setting("CUDA_VISIBLE_DEVICES") is not None


def _place(launch: Command, container: Container, run: Run) -> Place:
    found = launch.option_at("--nproc-per-node")
    if found is not None:
        return found[1]
    if run.kind == "PyTorchJob":
        elastic = run.elastic is not None and run.elastic.get("nProcPerNode") is not None
        return run.at.child("spec", *(("elasticPolicy", "nProcPerNode") if elastic else ("nprocPerNode",)))
    setting = container.setting("PET_NPROC_PER_NODE")
    if setting is None and run.kind not in ("TrainJob", *RUNTIMES):
        return launch.at
    if setting is None or (run.kind == "TrainJob" and has_torch_policy(run) is not False):
        return run.at.child("spec", "trainer", "numProcPerNode")
    return setting.at
