"""With blocking wait on, PyTorch starts no watchdog: a rank that is not just waiting never learns of a failure.

`TORCH_NCCL_BLOCKING_WAIT` makes `wait()` hold the CPU until a collective is done, and throw when it times out. The
watchdog thread is then not created, and with it go the detection of errors between waits, the flight recorder's dump on
a time-out and the monitoring of the heartbeat. The CPU cannot run ahead of the GPU any more either, which costs speed
in every step. It dates from the time before asynchronous error handling and is of use in tests.

Remove it: by default the process ends when a collective fails or times out, and the pod is started again.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects.environment import counts
from validator.aspects.settings import dropped
from validator.facts.torch_variables import TRUE
from validator.model import Setting
from validator.rule import Context, Problem, rule

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
    """Blocking wait, and with it no watchdog."""
    if setting.name not in NAMES or (setting.value or "").lower() not in TRUE or not counts(setting, context.container):
        return
    yield Problem(
        setting.at,
        f"{setting.name}={setting.value} leaves the run without a watchdog: errors between waits go unseen",
        "remove it",
        dropped(setting),
    )
