"""Every pod starts its model server with the same `--node-rank`, so two pods claim one place and all of them wait.

Pods of one template run the same command. With `--node-rank=1` in the template of two workers, both of them are node 1,
and the leader waits for node 2 until its timeout. With a single worker in each group, the number is right.

The rule looks at vLLM and SGLang. `node-rank-constant` covers launchers of training.

Use the index of the pod: `$LWS_WORKER_INDEX` in a LeaderWorkerSet, the label `apps.kubernetes.io/pod-index` in a
StatefulSet.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.model_servers import server_starts
from trainyard.document.lookup import decimal
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Container

_MANY = frozenset(("LeaderWorkerSet", "StatefulSet", "Job", "JobSet"))


@rule(
    code="TD036",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "sgl-project/sglang v0.5 python/sglang/srt/server_args.py: nnodes, node_rank",
        "lws.sigs.k8s.io/docs/reference/labels-annotations-and-environment-variables: LWS_WORKER_INDEX",
        "github.com/modelplaneai/modelplane pull 384",
    ),
    needs=("node-rank", "node_rank"),
)
def server_node_rank_constant(container: Container, context: Context) -> Iterator[Problem]:
    """Report a rank of all pods of a template."""
    run, role = context.run, context.role
    if run is None or role is None or run.kind not in _MANY or container not in role.pod.containers:
        return
    pods = (role.replicas or 1) // run.groups
    for start in server_starts(container) if pods > 1 else ():
        rank, nodes = start.command.option_at("--node-rank"), decimal(start.command.option("--nnodes") or "")
        if rank is not None and rank[0].isdecimal() and (nodes is None or nodes > 1):
            yield Problem(
                rank[1],
                f"all {pods} pods get --node-rank={rank[0]}, so their ranks collide",
                "use the index of the pod, such as `$LWS_WORKER_INDEX`",
            )
