"""Each pod trains alone, because accelerate is not told that there are several machines.

`accelerate launch` has one machine unless `--num_machines` or its configuration file says more. It then starts a
process for each GPU of the pod, and ignores `--machine_rank` and `--main_process_ip`: all pods train the same model
side by side, without an error, and write their checkpoints over one another.

The rule looks at jobs of several pods that name a rank or an address, at jobs of Kubeflow with `--multi_gpu`, and
ignores launches with a configuration file.

Write `--num_machines`, and `--num_processes` with the number of GPUs of all pods together.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.accelerate import accelerate_commands
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.kubeflow import REPLICA_FIELDS
from trainyard.model.run import Role

_OF_SEVERAL = ("--machine-rank", "--main-process-ip")
_TOLD = ("--num-machines", "--config-file", "--tpu", "--nnodes")


@rule(
    code="TD022",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "huggingface/accelerate 1.15.0 commands/launch.py: num_machines; utils/launch.py: prepare_multi_gpu_env",
        "github.com/stas00/ml-engineering pull 36",
    ),
    needs=("accelerate",),
)
def accelerate_without_machines(role: Role, context: Context) -> Iterator[Problem]:
    """Report a launch for several machines that does not say so."""
    run, container = context.run, role.container
    nodes = run.nodes if run is not None and run.is_job and role.trains else None
    if container is None or nodes is None or nodes < 2:
        return
    for launch in accelerate_commands(container):
        several = launch.has(*_OF_SEVERAL) or (
            launch.has("--multi-gpu") and run is not None and run.kind in REPLICA_FIELDS
        )
        if several and not launch.has(*_TOLD):
            message = f"accelerate knows of one machine, but the job has {nodes} pods: each trains alone"
            each = f" --num_processes={nodes * container.gpus}" if container.gpus else ""
            yield Problem(launch.at, message, f"add --num_machines={nodes}{each}")
