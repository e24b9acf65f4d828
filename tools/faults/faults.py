"""The faults of the table."""

from __future__ import annotations

from dataclasses import dataclass

from tools.faults.control_plane import kill_operator, kill_pod_without_dns, stop_api
from tools.faults.injection import Injection, other_pod, store_pod
from tools.faults.nodes import cut_off_node, drain_node, partition, pause_node, stop_node, taint_node
from tools.faults.pods import AT_ONCE, delete_pod, end_rank, evict_pod, keep_away, kill_rank, preempt_pod
from tools.faults.sandbox import FileSystem
from tools.faults.storage import fill_volume, freeze_volume, tear_checkpoint


@dataclass(frozen=True)
class Fault:
    """A fault; `what` is its description in the table.

    With `local` the checkpoints are on such a file system of one node, where both pods run. The fault is injected
    `times` times; the last time counts.
    """

    name: str
    what: str
    inject: Injection
    local: FileSystem | None = None
    times: int = 1


RANK_KILLED = Fault("rank-killed", "SIGKILL of a rank", kill_rank)
POD_DELETED = Fault("pod-deleted", "worker pod deleted", delete_pod(other_pod))
STORE_DELETED = Fault("store-lost", "pod with the store deleted", delete_pod(store_pod))
POD_EVICTED = Fault("pod-evicted", "worker pod evicted", evict_pod)
POD_KILLED = Fault("pod-killed", "worker pod killed", delete_pod(other_pod, *AT_ONCE))
STORE_KILLED = Fault("store-killed", "pod with the store killed", delete_pod(store_pod, *AT_ONCE))
OPERATOR_KILLED = Fault("operator-killed", "operator killed", kill_operator)


def all_faults(*, quick: bool = False) -> list[Fault]:
    """Return the faults of the table, in its order."""
    gone = 30 if quick else 120
    return [
        RANK_KILLED,
        # The kubelet restarts a container at once the first time, then with a back-off: 10 s, 20 s, up to 5 min.
        Fault("rank-killed-again", "SIGKILL of a rank once more", kill_rank, times=2),
        Fault("rank-ended", "exit 1 of a rank", end_rank),
        POD_DELETED,
        STORE_DELETED,
        POD_KILLED,
        STORE_KILLED,
        POD_EVICTED,
        Fault("pod-preempted", "worker pod preempted for 30 s", preempt_pod(30)),
        Fault("pod-away", "worker pod killed, back after 30 s", keep_away(30)),
        Fault("dns-gone", "worker pod killed, DNS gone for 30 s", kill_pod_without_dns(30)),
        Fault("node-drained", "node drained for 30 s", drain_node(30)),
        Fault("node-tainted", "node tainted `NoExecute` for 30 s", taint_node(30)),
        OPERATOR_KILLED,
        Fault("volume-full", "volume full for 30 s", fill_volume(30), local="tmpfs"),
        Fault("volume-hangs", "volume hangs for 30 s", freeze_volume(30), local="ext4"),
        Fault("checkpoint-torn", "newest checkpoint torn, SIGKILL of a rank", tear_checkpoint),
        Fault("partition-short", "partition between the pods, 8 s", partition(8)),
        Fault("partition-long", "partition between the pods, 60 s", partition(60)),
        Fault("network-lossy", "5% of the packets between the pods lost for 30 s", partition(30, share=0.05)),
        Fault("store-cut-off-short", "node of the store cut off, 8 s", cut_off_node(8, store_pod)),
        Fault("store-cut-off-long", "node of the store cut off, 60 s", cut_off_node(60, store_pod)),
        Fault("node-paused-short", "node paused for 8 s", pause_node(8, other_pod)),
        Fault("store-paused-short", "node of the store paused for 8 s", pause_node(8, store_pod)),
        Fault("node-paused-long", "node paused for 60 s", pause_node(60, other_pod)),
        Fault("store-paused-long", "node of the store paused for 60 s", pause_node(60, store_pod)),
        Fault("node-stopped", "node stopped for 60 s", stop_node(60, other_pod)),
        Fault("store-stopped", "node of the store stopped for 60 s", stop_node(60, store_pod)),
        Fault("api-gone", f"API server gone for {gone} s", stop_api(gone)),
    ]
