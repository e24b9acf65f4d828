"""An elastic run of one or two nodes on this machine: each torchrun stands for a pod."""

from __future__ import annotations

from tests.harness.trainer.environment import ENVIRONMENT
from tests.harness.trainer.ports import free_port

# Of torchrun for a run of one or two nodes, as training-job sets them.
VARIABLES = {**ENVIRONMENT, "PET_NNODES": "1:2", "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}


def options() -> tuple[str, ...]:
    """Returns the options of torchrun that all nodes of a new run share."""
    return (
        "--nnodes=1:2",
        "--nproc-per-node=1",
        "--rdzv-backend=c10d",
        f"--rdzv-endpoint=127.0.0.1:{free_port()}",
        # The attempts are more than a busy machine misses, so that the nodes do not part at the start.
        "--rdzv-conf=last_call_timeout=1,keep_alive_interval=1,keep_alive_max_attempt=60",
    )


def address(number: int) -> str:
    """Returns the option for a node. torchrun numbers nodes by their addresses, and those of one by process ID."""
    return f"--local-addr=127.0.0.{number}"
