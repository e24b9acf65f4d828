"""With blocking wait PyTorch starts no watchdog, so a rank detects a failure only while it waits.

`TORCH_NCCL_BLOCKING_WAIT` makes `wait()` block the CPU until a collective is done, and raise an error when it times
out. PyTorch then creates no watchdog thread. Without it there is no detection of errors between waits, no flight
recorder dump on a timeout and no monitoring of the heartbeat. The CPU can no longer run ahead of the GPU either, which
slows down every step. The option predates asynchronous error handling and is useful in tests.

Remove it: by default the process ends when a collective fails or times out, and the pod is restarted.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.environment import is_effective
from trainyard.analysis.pods.settings import remove_variable
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.programs.torch_variables import TRUE
from trainyard.model.run import Setting

NAMES = ("TORCH_NCCL_BLOCKING_WAIT", "NCCL_BLOCKING_WAIT")


@rule(
    code="TD005",
    severity="warning",
    confidence="medium",
    since="0.1.0",
    sources=("pytorch 2.12 torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp: constructor, blockingWait_",),
    fix="unsafe",
    needs=("BLOCKING_WAIT",),
)
def torch_blocking_wait_in_production(setting: Setting, context: Context) -> Iterator[Problem]:
    """Blocking wait, which turns off the watchdog."""
    if (
        setting.name not in NAMES
        or (setting.value or "").lower() not in TRUE
        or not is_effective(setting, context.container)
    ):
        return
    yield Problem(
        setting.at,
        f"{setting.name}={setting.value} turns off PyTorch's watchdog: errors between waits are not detected",
        "remove it",
        remove_variable(setting),
    )
