"""The nodes of an elastic run: which ones respond, and which ones go on when others are gone."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from dataclasses import replace

from torch.distributed import Store  # type: ignore[attr-defined]  # documented, but missing in __all__

from .launch import Launch
from .peer_watch import PeerConnection, PeerWatch

HEARTBEAT_SECONDS = 0.25
# A rank fails at once when the pod of a peer ends, because the kernel closes its connections. A pod without heartbeats
# since then is gone. Most are known to be killed before, by their connection.
_SILENT_SECONDS = 1.0
# A pause of this process: the others look silent, and are not.
_PAUSE_SECONDS = 1.0
# Of two nodes that lose each other, the second one decides two beats later, so that the first one locks the
# checkpoints. If the first one is late, it takes the lock from the second one, which ends when it reads the new owner.
_PRECEDENCE_SECONDS = 0.5
_NO_BEAT = b"0"
_LEAVING = b"leaving"
_SURVIVORS = "survivors"
_PORT = "port"


class Membership:
    """The nodes of one rendezvous, as its supervisors know them, in a store. For one thread of each supervisor.

    The first supervisor of each node sends its heartbeat. The one of the node `leader` decides which nodes go on, and
    the others follow, so that there is one decision. It holds for this rendezvous; the next one has another prefix in
    the store. The store is on the node of the leader: 0, or 1 for the decision to go on without node 0. Then node 0 has
    to have been silent for longer, so that of two nodes that lose each other, node 0 goes on.

    Args:
        store: The store of the leader.
        host: The host of that store.
        launch: The place of this rank in the launch.
        lost_seconds: A node that sends no heartbeat for so long is gone; 0: only when a rank has failed.
        leader: The node that decides.
    """

    def __init__(self, store: Store, host: str, launch: Launch, lost_seconds: float, leader: int = 0) -> None:
        self._store = store
        self._host = host
        self._launch = launch
        self._lost_seconds = lost_seconds + leader * _PRECEDENCE_SECONDS if lost_seconds else 0.0
        self._leader = leader
        self._leads = (launch.node, launch.local_rank) == (leader, 0)
        self._beats = 0
        self._keys = [f"node-{node}" for node in range(launch.nodes)]
        self._seen = [(b"", time.monotonic())] * launch.nodes
        self._read_at = time.monotonic()
        self._watch: PeerWatch | None = None
        self._connection: PeerConnection | None = None
        self._is_to_connect = launch.local_rank == 0 and launch.node != leader
        if self._leads:
            self._watch = PeerWatch()
            store.set(_PORT, str(self._watch.port))
            for key in self._keys:  # reading a missing key would block
                store.compare_set(key, "", _NO_BEAT.decode())

    def beat(self, *, leaving: bool) -> None:
        """Sends the heartbeat of this node. `leaving`: its pod was told to end."""
        self._beats += 1
        if self._launch.local_rank == 0:
            self._store.set(self._keys[self._launch.node], _LEAVING.decode() if leaving else str(self._beats))
        if self._is_to_connect and self._store.check([_PORT]):
            self._is_to_connect = False
            # Without a connection, the heartbeats are left.
            with suppress(OSError):
                self._connection = PeerConnection(self._host, int(self._store.get(_PORT)), self._launch.node)

    def close(self) -> None:
        """Ends the part of this supervisor, which may end now. The node is not gone for that."""
        for end in (self._connection, self._watch):
            if end:
                end.close()

    def survivors(self, *, failed: bool) -> list[int] | None:
        """Returns the nodes that go on without the others, sorted; None while all are needed.

        Args:
            failed: The rank of this supervisor has ended. Then a node that leaves, was killed or is silent for a moment
                is gone.
        """
        if self._leads:
            self._decide(failed=failed)
        if not self._store.check([_SURVIVORS]):
            return None
        nodes: list[int] = json.loads(self._store.get(_SURVIVORS))
        return nodes

    def _decide(self, *, failed: bool) -> None:
        self._read_heartbeats()
        killed = self._watch.killed() if self._watch else frozenset()
        silent = _SILENT_SECONDS if failed else self._lost_seconds
        present = [
            node
            for node, (value, at) in enumerate(self._seen)
            if node == self._leader
            or not ((failed and (value == _LEAVING or node in killed)) or 0 < silent < self._read_at - at)
        ]
        if self._launch.min_nodes <= len(present) < self._launch.nodes and self._may_decide(present):
            self._store.set(_SURVIVORS, json.dumps(present))

    def _may_decide(self, present: list[int]) -> bool:
        if self._seen[self._leader][0] == _LEAVING:
            return False
        # Before its first heartbeat, a node may not have found this store yet.
        return self._leader == 0 or (0 not in present and self._seen[0][0] != _NO_BEAT)

    def _read_heartbeats(self) -> None:
        now = time.monotonic()
        was_paused = now - self._read_at > _PAUSE_SECONDS
        self._read_at = now
        for node, value in enumerate(self._store.multi_get(self._keys)):
            if was_paused or value != self._seen[node][0]:
                self._seen[node] = (value, now)


def launch_of(survivors: list[int], launch: Launch) -> Launch:
    """Returns the place of this rank in the launch of the `survivors`, to which its node belongs."""
    return replace(
        launch,
        rank=survivors.index(launch.node) * launch.local_size + launch.local_rank,
        size=len(survivors) * launch.local_size,
        nodes=len(survivors),
    )
