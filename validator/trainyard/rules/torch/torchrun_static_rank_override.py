"""The training operator appends this variable behind your own, and of two entries with one name the last one counts.

For every PyTorchJob the operator sets `PET_NNODES` and `PET_NPROC_PER_NODE`; with a Master also `MASTER_ADDR`,
`MASTER_PORT`, `RANK`, `WORLD_SIZE` and the `PET_` names that torchrun reads, with an elasticPolicy the rendezvous. They
come after the container's `env`, so what the manifest says never reaches the process: `PET_NPROC_PER_NODE=4` in `env`
is `auto` in the pod. A rank or address that seems to be fixed here, and is not, misleads whoever looks for a fault.

Without a Master and without an elasticPolicy the operator sets no address and no rank: then they are yours.

Remove the variable; use `replicas`, `nprocPerNode`, the port `pytorchjob-port` and elasticPolicy. An `export` in the
script does win.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects.settings import dropped, name_at
from validator.aspects.torchrun import appended
from validator.model import Setting
from validator.rule import Context, Problem, rule

INSTEAD = {
    "PET_NPROC_PER_NODE": "set nprocPerNode in the job's spec",
    "PET_NNODES": "set replicas, or the bounds of elasticPolicy",
    "WORLD_SIZE": "set replicas and nprocPerNode",
    "MASTER_PORT": "name a port of the Master's container pytorchjob-port",
    "PET_MASTER_PORT": "name a port of the Master's container pytorchjob-port",
    "PET_RDZV_ENDPOINT": "set rdzvHost and rdzvPort in elasticPolicy",
    "PET_RDZV_BACKEND": "set rdzvBackend in elasticPolicy",
}

# How the names begin that the operator may append; which of them it does depends on the job.
APPENDED = ("PET_", "MASTER_", "RANK", "WORLD_SIZE")


@rule(
    code="TD007",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubeflow/training-operator v1.9.3 pkg/controller.v1/pytorch/envvar.go: setPodEnv",
        "kubeflow/training-operator v1.9.3 pkg/controller.v1/pytorch/master.go, elastic.go: Generate",
    ),
    fix="safe",
)
def torchrun_static_rank_override(setting: Setting, context: Context) -> Iterator[Problem]:
    """A variable that the operator sets again."""
    if not setting.name.startswith(APPENDED):
        return
    run, pod = context.run, context.pod
    if run is None or pod is None or setting.via not in ("env", "envFrom") or setting.name not in appended(run):
        return
    # The operator leaves init containers as they are.
    if all(container is not context.container for container in pod.containers):
        return
    written = setting.name if setting.value is None else f"{setting.name}={setting.value}"
    yield Problem(
        name_at(setting),
        f"{written} never reaches the process: the training operator appends its own value",
        INSTEAD.get(setting.name, "remove it"),
        dropped(setting),
    )
