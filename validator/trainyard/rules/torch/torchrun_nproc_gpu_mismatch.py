"""torchrun starts another number of processes than the container has GPUs for.

Each process takes the GPU with the number of its `LOCAL_RANK`. With more processes than GPUs the ones beyond end with
`invalid device ordinal` as soon as they choose their device, and torchrun tears down the rest. With fewer, GPUs that
are paid for stand idle; where the number of GPUs is a multiple of the number of processes each may use several, as in
tensor parallelism within one process, so that the rule is silent.

The number comes from `--nproc-per-node`, from `nprocPerNode` of a PyTorchJob, from a TrainJob's `numProcPerNode` or
from `PET_NPROC_PER_NODE`; the GPUs are the container's limit. Containers with MIG devices or `CUDA_VISIBLE_DEVICES` are
left alone.

Write the number of GPUs, or `gpu`.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects.torchrun import count, has_torch_policy, launches, processes
from validator.model import Command, Container, Role, Run
from validator.rule import Context, Problem, rule
from validator.source import Place

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
    needs=("nproc", "NPROC", "nProc", "numProc"),
)
def torchrun_nproc_gpu_mismatch(role: Role, context: Context) -> Iterator[Problem]:
    """Processes without a GPU, or GPUs without a process."""
    container, run = role.container, context.run
    if container is None or run is None or not role.trains or _unclear(container):
        return
    devices = container.gpus
    for launch in launches(container):
        started = count(processes(launch, container, run))
        if not started or not devices or devices % started == 0:
            continue
        what = "the ones beyond end when they choose a device" if started > devices else "the others stand idle"
        yield Problem(
            _place(launch, container, run),
            f"torchrun starts {started} processes for {devices} GPUs: {what}",
            f"write {devices}, or `gpu`",
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
    if setting is None or (run.kind == "TrainJob" and has_torch_policy(run) is not False):
        return run.at.child("spec", "trainer", "numProcPerNode")
    return setting.at
