"""The training saves a checkpoint when SIGTERM comes, but the pod is killed at most 30 seconds later.

Options such as `--enable_jit_checkpoint` of Hugging Face and `--exit-signal-handler` of Megatron-LM save when a pod is
deleted, preempted or drained. The ranks first end their step. `terminationGracePeriodSeconds` is 30 by default: the
kubelet kills the ranks of a large model while they write, and the checkpoint is lost or incomplete.

The rule looks at runs with 8 GPUs or more whose grace period is 30 seconds or less.

Write a `terminationGracePeriodSeconds` that is longer than a step and a save.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.document.lookup import integer
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.kubeflow import RUNTIMES
from trainyard.model.run import Command, Role

OPTIONS = ("--enable-jit-checkpoint", "--exit-signal-handler")
FIELD, DEFAULT = "terminationGracePeriodSeconds", 30
LARGE = 8
_OFF = ("false", "no", "0", "off")


@rule(
    code="SC046",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "huggingface/transformers 5.23.0 TrainingArguments.enable_jit_checkpoint: configure the grace period",
        "NVIDIA/Megatron-LM megatron/training/arguments.py: --exit-signal-handler saves and exits on SIGTERM",
        "github.com/huggingface/transformers pull 41723, github.com/kubeflow/trainer pull 3324",
    ),
    needs=("enable_jit_checkpoint", "enable-jit-checkpoint", "exit-signal-handler"),
)
def save_at_signal_without_time(role: Role, context: Context) -> Iterator[Problem]:
    """Report runs that save at their end and have no time for it."""
    run, container = context.run, role.container
    if run is None or run.kind in RUNTIMES or not role.trains or container is None or not has_all_pods(run):
        return
    is_written = FIELD in role.pod.tree
    grace = integer(role.pod.tree, FIELD) if is_written else DEFAULT
    option = next((one for command in container.commands if (one := _option(command))), "")
    if option and grace is not None and grace <= DEFAULT and container.gpus * (role.replicas or 1) >= LARGE:
        yield Problem(
            role.pod.at.child(FIELD) if is_written else role.pod.at.key(),
            f"`{option}` saves a checkpoint after SIGTERM, and the pod is killed {grace} s later",
            f"write a `{FIELD}` that is longer than a step and a save",
        )


def _option(command: Command) -> str:
    for name in OPTIONS:
        if command.has(name) and str(command.option(name) or "").lower() not in _OFF:
            return next((word for word in command.words if word.replace("_", "-").startswith(name)), name)
    return ""
