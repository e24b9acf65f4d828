"""accelerate starts DeepSpeed over SSH on the other nodes, but every pod already runs its own accelerate.

Without `deepspeed_multinode_launcher`, or with `pdsh`, `accelerate launch` on several machines calls the `deepspeed`
launcher with a hostfile, which connects to the other nodes by SSH. Pods of a job have no SSH server and no hostfile:
the start fails, or each pod trains on its own as the only node. The launcher `standard` uses torchrun in each pod.

The rule ignores configurations with a `deepspeed_hostfile` and MPIJobs.

Write `deepspeed_multinode_launcher: standard`, and pass the rank of the pod as `--machine_rank`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.accelerate_config import accelerate_configs, launches
from trainyard.document.document import SetValue
from trainyard.document.lookup import integer, mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Project

LAUNCHER = "deepspeed_multinode_launcher"
OPTIONS = ("--deepspeed-multinode-launcher", "--deepspeed-hostfile")


@rule(
    code="DS017",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "huggingface/accelerate 1.15.0 src/accelerate/utils/launch.py: prepare_deepspeed_cmd_env",
        "github.com/huggingface/accelerate issues 1795 and 1837",
    ),
    fix="safe",
    needs=("distributed_type",),
)
def accelerate_pdsh_in_pods(project: Project) -> Iterator[Problem]:
    """A launcher over SSH in pods that start themselves."""
    for config in accelerate_configs(project):
        section = mapping(config.tree, "deepspeed_config")
        machines = integer(config.tree, "num_machines") or 1
        if config.tree.get("distributed_type") != "DEEPSPEED" or machines < 2 or section.get("deepspeed_hostfile"):
            continue
        if section.get(LAUNCHER) not in (None, "pdsh"):
            continue
        for run, launch in launches(config, project):
            if run.kind == "MPIJob" or not run.is_job or (run.nodes or 1) < 2 or launch.has(*OPTIONS):
                continue
            at = config.at.child("deepspeed_config", LAUNCHER)
            what = "is pdsh" if LAUNCHER in section else "defaults to pdsh"
            yield Problem(
                at,
                f"`{LAUNCHER}` {what}: accelerate tries to start the other pods of {run.name} over SSH",
                "write `standard`",
                (SetValue(at, "standard"),) if LAUNCHER in section else (),
            )
            break
