"""The launcher of an MPIJob requests GPUs that it cannot use.

Unless `runLauncherAsWorker` is set, the launcher only starts `mpirun`. The MPI operator sets `NVIDIA_VISIBLE_DEVICES`
and `NVIDIA_DRIVER_CAPABILITIES` to empty values in its container, after the variables of the manifest. The GPUs are
reserved for the whole run, but none of its processes sees them. If GPUs are scarce, the launcher waits for a GPU node
while the workers wait for the launcher.

This applies to `kubeflow.org/v2beta1`. The MPIJob of `kubeflow.org/v1` counts a launcher with GPUs as one more worker.

Remove the GPUs from the launcher, or set `runLauncherAsWorker: true`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import is_mpi_operator
from trainyard.document.document import Edit, Remove
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.hardware.devices import is_accelerator
from trainyard.model.run import Role


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
    """GPUs on a launcher that does not train."""
    run = context.run
    # The Launcher trains with `runLauncherAsWorker: true`.
    if run is None or not is_mpi_operator(run) or role.name != "Launcher" or role.trains:
        return
    for container in role.pod.containers[:1]:
        edits: list[Edit] = []
        for field, quantities in (("limits", container.limits), ("requests", container.requests)):
            edits += [
                Remove(container.at.child("resources", field, name)) for name in quantities if is_accelerator(name)
            ]
        if container.gpus:
            yield Problem(
                edits[0].at,
                f"the launcher reserves {container.gpus} GPUs, but the operator hides them from it",
                "remove the GPUs from the launcher, or set `runLauncherAsWorker: true`",
                tuple(edits),
            )
