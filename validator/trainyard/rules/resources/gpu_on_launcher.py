"""The launcher of an MPIJob asks for GPUs that it may not use.

Unless `runLauncherAsWorker` is set, the launcher only starts `mpirun`: the MPI operator sets `NVIDIA_VISIBLE_DEVICES`
and `NVIDIA_DRIVER_CAPABILITIES` to nothing in its container, behind the variables of the manifest. The GPUs are
reserved for the whole run and none of its processes sees them; and where they are scarce, the launcher waits for a GPU
node while the workers wait for the launcher.

This is so in `kubeflow.org/v2beta1`. The MPIJob of `kubeflow.org/v1` counts a launcher with GPUs as one more worker.

Take the GPUs from the launcher, or set `runLauncherAsWorker: true`.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.facts.devices import is_accelerator
from validator.model import Role
from validator.rule import Context, Edit, Problem, Remove, rule


@rule(
    code="RS005",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=("kubeflow/mpi-operator v0.8.2 pkg/controller/mpi_job_controller.go: newLauncherPodTemplate",),
    fix="unsafe",
    needs=("Launcher",),
)
def gpu_on_launcher(role: Role, context: Context) -> Iterator[Problem]:
    """GPUs of a launcher that does not train."""
    run = context.run
    if run is None or run.kind != "MPIJob" or not run.api_version.endswith("/v2beta1") or role.name != "Launcher":
        return
    if role.trains or run.spec.get("runLauncherAsWorker") is True:
        return
    for container in role.pod.containers[:1]:
        if container.gpus == 0:
            continue
        edits: list[Edit] = []
        for field, quantities in (("limits", container.limits), ("requests", container.requests)):
            edits += [
                Remove(container.at.child("resources", field, name)) for name in quantities if is_accelerator(name)
            ]
        yield Problem(
            edits[0].at,
            f"the launcher reserves {container.gpus} GPUs and the operator hides them from it",
            "take the GPUs from the launcher, or set `runLauncherAsWorker: true`",
            tuple(edits),
        )
