"""Blocking wait and asynchronous error handling are on, and only blocking wait takes effect.

They are two ways to end a collective that hangs. With `TORCH_NCCL_BLOCKING_WAIT` the rank itself waits and raises an
error. With `TORCH_NCCL_ASYNC_ERROR_HANDLING` a watchdog ends the process. PyTorch turns the second off if the first is
on, so no watchdog runs.

Remove `TORCH_NCCL_BLOCKING_WAIT`: the watchdog is the default.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.settings import remove_variable
from trainyard.engine.rule import Problem, rule
from trainyard.facts.programs.torch_variables import TRUE
from trainyard.model.run import Container

_BLOCKING = ("TORCH_NCCL_BLOCKING_WAIT", "NCCL_BLOCKING_WAIT")
_HANDLING = ("TORCH_NCCL_ASYNC_ERROR_HANDLING", "NCCL_ASYNC_ERROR_HANDLING")


@rule(
    code="TD024",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "pytorch 2.15.0 torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp: constructor, blockingWait_",
        "github.com/pytorch/pytorch issue 47943",
    ),
    fix="unsafe",
    needs=("BLOCKING_WAIT",),
)
def blocking_wait_with_async_handling(container: Container) -> Iterator[Problem]:
    """Report both modes at once."""
    settings = [container.setting(name) for name in (*_BLOCKING, *_HANDLING)]
    blocking = next((one for one in settings[:2] if one is not None and (one.value or "").lower() in TRUE), None)
    handling = next((one for one in settings[2:] if one is not None and one.value not in (None, "0")), None)
    if blocking is not None and handling is not None:
        message = f"{blocking.name}={blocking.value} turns {handling.name} off: no watchdog runs"
        yield Problem(blocking.at, message, f"remove {blocking.name}", remove_variable(blocking))
