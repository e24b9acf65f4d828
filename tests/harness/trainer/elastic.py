"""An elastic run of one or two nodes on this machine: each torchrun stands for a pod."""

from __future__ import annotations

from tests.harness.ports import free_port
from tests.harness.trainer.environment import ENVIRONMENT

# Of torchrun for a run of one or two nodes, as training-job sets them.
VARIABLES = {**ENVIRONMENT, "PET_NNODES": "1:2", "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}


def options() -> tuple[str, ...]:
    """Returns the options of torchrun that all nodes of a new run share."""
    return (
        "--nnodes=1:2",
        "--nproc-per-node=1",
        "--rdzv-backend=c10d",
        f"--rdzv-endpoint=127.0.0.1:{free_port()}",
    )


def node_options(number: int) -> tuple[str, ...]:
    """Returns the options of torchrun for a node. The first one, number 1, has rank 0 and the store."""
    return (
        # torchrun orders nodes by their addresses, and those of one by process ID.
        f"--local-addr=127.0.0.{number}",
        # Without `is_host`, the store belongs to the node that starts sooner. The attempts are more than a busy machine
        # misses, so that the nodes do not part at the start.
        f"--rdzv-conf=is_host={number == 1},last_call_timeout=1,keep_alive_interval=5,keep_alive_max_attempt=12",
    )
