"""torchrun ignores `--node-rank` with an elastic rendezvous, so the pod may get another rank than it asks for.

`--node-rank` counts with the static rendezvous only. The backends `c10d` and `etcd` give each node a rank when it
joins. What the pod with rank 0 is to do, such as downloading or saving, may then happen on another node, and a restart
may change the ranks.

Remove `--node-rank`, or use the static rendezvous: `--node-rank` with `--master-addr` and without `--rdzv-backend`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.torchrun import torchrun_commands
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Role

_ELASTIC = ("c10d", "etcd", "etcd-v2")


@rule(
    code="TD023",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "pytorch 2.15.0 torch/distributed/run.py: --node-rank, only used for a static rendezvous",
        "github.com/pytorch/pytorch issue 182223",
    ),
    needs=("node-rank", "node_rank"),
)
def torchrun_node_rank_ignored(role: Role) -> Iterator[Problem]:
    """Report a rank that the rendezvous overrides."""
    for launch in torchrun_commands(role.container) if role.container is not None else ():
        rank, backend = launch.option_at("--node-rank"), launch.option("--rdzv-backend")
        if rank is not None and backend in _ELASTIC:
            message = f"torchrun ignores --node-rank={rank[0]}: the rendezvous `{backend}` gives the ranks"
            yield Problem(rank[1], message, "remove it, or use the static rendezvous")
