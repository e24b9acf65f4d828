"""The TrainJob sets a variable reserved for the trainer: the job is rejected, or the value is overwritten.

A torch runtime reserves `PET_NNODES`, `PET_NPROC_PER_NODE`, `PET_NODE_RANK`, `PET_MASTER_ADDR` and `PET_MASTER_PORT`;
an MPI runtime reserves the four `OMPI_MCA_*` variables that set the hostfile, the ssh arguments and the slots. Since
2.2 the webhook rejects the torch names in `trainer.env` (since 2.3 the MPI names too). Earlier releases did so only
when `numProcPerNode` was set; otherwise the controller overwrote the job's value. Either way the value has no effect.

The rule needs the runtime among the files, or a `runtimeRef` to one that Kubeflow ships or whose name begins with
`torch`.

Set `trainer.numNodes` and `trainer.numProcPerNode` instead, and remove the variables.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.document import Remove
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.training_runtimes import shipped_policy
from trainyard.model.run import Run

TORCH = ("PET_NNODES", "PET_NPROC_PER_NODE", "PET_NODE_RANK", "PET_MASTER_ADDR", "PET_MASTER_PORT")
MPI = (
    "OMPI_MCA_orte_default_hostfile",
    "OMPI_MCA_plm_rsh_args",
    "OMPI_MCA_orte_keep_fqdn_hostnames",
    "OMPI_MCA_orte_set_default_slots",
)
INSTEAD = {"PET_NNODES": "trainer.numNodes", "PET_NPROC_PER_NODE": "trainer.numProcPerNode"}


@rule(
    code="KF015",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubeflow/trainer v2.3.0 pkg/constants/constants.go: TorchRunReservedEnvNames, MPIReservedEnvNames; "
        "pkg/runtime/framework/plugins/torch/torch.go and mpi/mpi.go: Validate, EnforceMLPolicy",
        "kubeflow/trainer v2.1.0 pkg/runtime/framework/plugins/torch/torch.go: Validate",
    ),
    fix="safe",
    needs=("TrainJob", "TrainingRuntime"),
)
def trainjob_reserved_env(run: Run) -> Iterator[Problem]:
    """Report a reserved variable in a TrainJob's trainer."""
    entries = items(run.spec, "trainer", "env") if run.kind == "TrainJob" else ()
    reserved = _reserved(run) if entries else ()
    for index, entry in enumerate(entries):
        name = text(entry, "name")
        if name not in reserved:
            continue
        at = run.at.child("spec", "trainer", "env", index)
        instead = f"write {INSTEAD[name]} instead" if name in INSTEAD else "remove it: the trainer sets it"
        yield Problem(
            at.child("name"),
            f"{name} is reserved for the trainer: it is rejected or overwritten here",
            instead,
            (Remove(at),),
        )


def _reserved(run: Run) -> tuple[str, ...]:
    runtime = run.runtime if run.runtime is not None else shipped_policy(run.spec)
    if runtime is not None:
        policy = mapping(runtime, "mlPolicy")
        return (TORCH if "torch" in policy else ()) + (MPI if "mpi" in policy else ())
    return TORCH if text(run.spec, "runtimeRef", "name").startswith("torch") else ()
