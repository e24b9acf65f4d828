"""The rank of the node is not below the number of nodes, so the ranks never are complete and all nodes wait.

Ranks count from 0: two nodes have the ranks 0 and 1. With `--nnodes=1 --node-rank=3`, torchrun waits for a node 0 until
its timeout. `accelerate launch` hands `--machine_rank` and `--num_machines` on to torchrun.

The rule compares numbers that are written out. For the rendezvous `c10d`, torchrun ignores the rank.

Write 0 for the first node.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.node_launches import node_launches
from trainyard.document.lookup import decimal
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Container


@rule(
    code="TD046",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "pytorch 2.15.0 torch/distributed/run.py: --node-rank, rank of the node for multi-node distributed training",
        "pytorch 2.15.0 torch/distributed/elastic/rendezvous/static_tcp_rendezvous.py: create_rdzv_handler",
        "huggingface/accelerate 1.15.0 commands/launch.py: --machine_rank",
    ),
    needs=("node-rank", "node_rank", "machine_rank", "machine-rank"),
)
def node_rank_beyond_nodes(container: Container) -> Iterator[Problem]:
    """Report ranks of nodes that do not exist."""
    for launch, rank, nodes in node_launches(container):
        told, count = launch.option_at(rank), decimal(launch.option(nodes) or "")
        number = decimal(told[0]) if told is not None else None
        if told is None or number is None or not count or number < count or launch.has("--standalone"):
            continue
        if launch.option("--rdzv-backend") not in (None, "static"):
            continue
        last = f"0 to {count - 1}" if count > 1 else "0"
        message = f"{rank} is {number}, and {nodes} {count}: the ranks of the nodes are {last}, so all nodes wait"
        yield Problem(told[1], message, f"write {last}, or a larger number of nodes")
