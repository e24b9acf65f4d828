"""The training operator sets this variable after the container's `env`, so this value has no effect.

For every PyTorchJob the operator sets `PET_NNODES` and `PET_NPROC_PER_NODE`; with a Master also `MASTER_ADDR`,
`MASTER_PORT`, `RANK`, `WORLD_SIZE` and the `PET_` names that torchrun reads; with an elasticPolicy also the rendezvous.
It appends them to the container's `env`, and of two entries with one name the last one counts. The value in the
manifest never reaches the process: `PET_NPROC_PER_NODE=4` in `env` is `auto` in the pod. A rank or address that seems
to be fixed here, but is not, misleads whoever debugs the job.

In a Job of Volcano the plugin `pytorch` appends `MASTER_ADDR`, `MASTER_PORT`, `RANK` and `WORLD_SIZE` in the same way.

Without a Master and without an elasticPolicy the operator sets no address and no rank, so you can set them.

The rule ignores a value that is the operator's own.

Remove the variable; use `replicas`, `nprocPerNode`, the port `pytorchjob-port` and elasticPolicy. An `export` in the
script does override the operator.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.torchrun import operator_variables
from trainyard.analysis.pods.settings import name_at, remove_variable
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Run, Setting

INSTEAD = {
    "PET_NPROC_PER_NODE": "set nprocPerNode in the job's spec",
    "PET_NNODES": "set replicas, or the bounds of elasticPolicy",
    "WORLD_SIZE": "set replicas and nprocPerNode",
    "MASTER_PORT": "add a port with the name `pytorchjob-port` to the Master's container",
    "PET_MASTER_PORT": "add a port with the name `pytorchjob-port` to the Master's container",
    "PET_RDZV_ENDPOINT": "set rdzvHost and rdzvPort in elasticPolicy",
    "PET_RDZV_BACKEND": "set rdzvBackend in elasticPolicy",
}

# Prefixes of the names that the operator may append; the job decides which of them it does.
APPENDED = ("PET_", "MASTER_", "RANK", "WORLD_SIZE")


@rule(
    code="TD007",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubeflow/training-operator v1.9.3 pkg/controller.v1/pytorch/envvar.go: setPodEnv",
        "kubeflow/training-operator v1.9.3 pkg/controller.v1/pytorch/master.go, elastic.go: Generate",
        "volcano-sh/volcano v1.15.1 pkg/controllers/job/plugins/distributed-framework/pytorch: OnPodCreate",
    ),
    fix="safe",
    needs=APPENDED,
)
def torchrun_static_rank_override(setting: Setting, context: Context) -> Iterator[Problem]:
    """A variable that the operator overrides."""
    if not setting.name.startswith(APPENDED):
        return
    run, pod = context.run, context.pod
    if (
        run is None
        or pod is None
        or setting.via not in ("env", "envFrom")
        or setting.name not in operator_variables(run)
    ):
        return
    # The operator leaves init containers as they are.
    if all(container is not context.container for container in pod.containers):
        return
    written = setting.name if setting.value is None else f"{setting.name}={setting.value}"
    by_operator = run.kind == "PyTorchJob"
    if by_operator and setting.value is not None and setting.value == _operator_value(setting.name, run):
        return
    appends = "the training operator" if by_operator else "Volcano's pytorch plugin"
    yield Problem(
        name_at(setting),
        f"{written} has no effect: {appends} sets its own value after it",
        INSTEAD.get(setting.name, "remove it") if by_operator else "remove it, or the plugin",
        remove_variable(setting),
    )


def _operator_value(name: str, run: Run) -> str | None:
    """Returns the value that the operator sets, None if it is not the same in all pods or not known."""
    if name.removeprefix("PET_") == "MASTER_ADDR":
        return f"{run.name}-master-0"
    if name.removeprefix("PET_") == "MASTER_PORT":
        return _master_port(run)
    processes = run.spec.get("nprocPerNode") or "auto"
    if name == "PET_NPROC_PER_NODE":
        return str((run.elastic or {}).get("nProcPerNode") or processes)
    if run.nodes is None or run.elastic is not None:
        return None
    if name == "PET_NNODES":
        return str(run.nodes)
    return str(run.nodes * int(processes)) if name == "WORLD_SIZE" and str(processes).isdecimal() else None


def _master_port(run: Run) -> str:
    """Returns the container port with the operator's name for it, or its default."""
    master = run.role("Master")
    container = master.container if master is not None else None
    for port in items(container.tree, "ports") if container is not None else ():
        if text(port, "name") == "pytorchjob-port":
            return str(mapping(port).get("containerPort"))
    return "23456"
