"""Faults, each made for real and taken back. A fault returns the time at which it struck."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.cluster import api
from tests.cluster.errors import ClusterError
from tests.jobs import operator

from .runners import Runner
from .site import Site

Strike = Callable[[Site, Runner], float]
MANIFEST = "kube-apiserver.yaml"
# The youngest process of a pod that has computed for a second is a rank: torchrun, and its guard, are older.
KILL_RANK = """
rank=0
for file in /proc/[0-9]*/stat; do
  set -- $(cat "$file")
  if [ "${14:-0}" -gt 100 ] && [ "$1" -gt "$rank" ]; then rank=$1; fi
done
date +%s.%N
kill -9 "$rank"
"""
BALLAST = "ballast"
# As somebody does who writes more than there is room for: what becomes free is taken within a millisecond.
FILL = """
open(F, ">>", $ARGV[0]); $zeros = "\\0" x 65536; $end = time + $ARGV[1];
while (time < $end) { defined(syswrite(F, $zeros)) or select(undef, undef, undef, 0.001) }
"""


@dataclass(frozen=True)
class Fault:
    """`what` is said in the table. With `small` the checkpoints are on a volume that can be filled.

    The last of so many `times` is the one that counts.
    """

    name: str
    what: str
    strike: Strike
    small: bool = False
    times: int = 1


def kill_rank(place: Site, runner: Runner) -> float:
    """SIGKILL for one rank, as the kernel does to a process that outgrows its memory."""
    return float(place.kubectl("exec", runner.other, "--", "sh", "-c", KILL_RANK).strip())


def delete_pod(place: Site, name: str) -> float:
    """Delete a pod as an eviction does, with its time to end; a new one of its name is made."""
    struck = time.time()
    place.kubectl("delete", "pod", name, "--wait=false")
    return struck


@contextmanager
def _held(make: Callable[[], object], take_back: Callable[[], object]) -> Iterator[float]:
    struck = time.time()
    try:
        make()
        yield struck
    finally:
        take_back()


def node_of(place: Site, pod: str) -> str:
    """The node of a pod."""
    return place.kubectl("get", "pod", pod, "--output=jsonpath={.spec.nodeName}")


def pause_node(seconds: float) -> Strike:
    """Freeze all processes of a node, as a hypervisor does that moves a machine."""

    def strike(place: Site, runner: Runner) -> float:
        node = node_of(place, runner.other)
        with _held(lambda: place.engine.check("pause", node), lambda: place.engine.check("unpause", node)) as struck:
            time.sleep(seconds)
        return struck

    return strike


def stop_node(seconds: float) -> Strike:
    """Switch a node off, and on again."""

    def strike(place: Site, runner: Runner) -> float:
        node = node_of(place, runner.other)
        kill = ("kill", "--signal", "KILL", node)
        with _held(lambda: place.engine.check(*kill), lambda: place.engine.check("start", node)) as struck:
            time.sleep(seconds)
        return struck

    return strike


def kill_operator(place: Site, _runner: Runner) -> float:
    """Delete the operator's pod without a warning, and wait for the next one."""
    struck = time.time()
    options = ("--all", "--grace-period=0", "--force", "--namespace", operator.NAMESPACE)
    api.kubectl(place.cluster.kubeconfig, "delete", "pods", *options)
    operator.wait_available(place.cluster)
    return struck


def stop_api(seconds: float) -> Strike:
    """Take the API server away, and give it back."""

    def strike(place: Site, _runner: Runner) -> float:
        node = place.cluster.node_names[0]

        def take_away() -> None:
            # Without its manifest the kubelet does not start it again.
            place.on_node(node, "mv", f"/etc/kubernetes/manifests/{MANIFEST}", "/root/")
            api.wait_until(lambda: not _answers(place), what="the API server to be gone", seconds=60)

        with _held(take_away, lambda: place.on_node(node, "mv", f"/root/{MANIFEST}", "/etc/kubernetes/manifests/")):
            # From when it is gone, and not from when it was told to go.
            struck = time.time()
            time.sleep(seconds)
        api.wait_until(lambda: _answers(place), what="the API server to be back", seconds=120)
        return struck

    return strike


def _answers(place: Site) -> bool:
    try:
        api.kubectl(place.cluster.kubeconfig, "get", "--raw", "/readyz", "--request-timeout=2s")
    except ClusterError:
        return False
    return True


def partition(seconds: float) -> Strike:
    """Let no packet through between the two pods; all else goes on."""

    def strike(place: Site, runner: Runner) -> float:
        pods = (runner.meeting, runner.other)
        first, second = (place.kubectl("get", "pod", pod, "--output=jsonpath={.status.podIP}") for pod in pods)

        def rules(verb: str) -> None:
            commands = [
                f"iptables -w {verb} FORWARD -s {source} -d {target} -j DROP"
                for source, target in ((first, second), (second, first))
            ]
            for node in place.cluster.workers:
                place.on_node(node, "sh", "-c", " && ".join(commands))

        with _held(lambda: rules("-I"), lambda: rules("-D")) as struck:
            time.sleep(seconds)
        return struck

    return strike


def fill_volume(seconds: float) -> Strike:
    """Leave no byte on the volume of the checkpoints for a while."""

    def strike(place: Site, _runner: Runner) -> float:
        ballast = f"{place.small_folder}/{BALLAST}"
        with _held(
            lambda: place.on_node(place.small_node, "perl", "-e", FILL, ballast, str(seconds)),
            lambda: place.on_node(place.small_node, "rm", "-f", ballast),
        ) as struck:
            return struck

    return strike


RANK_KILLED = Fault("rank-killed", "SIGKILL of a rank", kill_rank)
OPERATOR_KILLED = Fault("operator-killed", "operator killed", kill_operator)


def all_faults(*, quick: bool = False) -> list[Fault]:
    """The faults of the table, in its order."""
    gone = 30 if quick else 120
    return [
        RANK_KILLED,
        # Kubelet starts a container at once for the first time, and then waits: 10 s, 20 s, up to 5 min.
        Fault("rank-killed-again", "SIGKILL of a rank once more", kill_rank, times=2),
        Fault("pod-deleted", "worker pod deleted", lambda place, runner: delete_pod(place, runner.other)),
        Fault("store-lost", "pod with the store deleted", lambda place, runner: delete_pod(place, runner.meeting)),
        OPERATOR_KILLED,
        Fault("volume-full", "volume full for 30 s", fill_volume(30), small=True),
        Fault("partition-short", "partition between the pods, 8 s", partition(8)),
        Fault("partition-long", "partition between the pods, 60 s", partition(60)),
        Fault("node-paused-short", "node paused for 8 s", pause_node(8)),
        Fault("node-paused-long", "node paused for 60 s", pause_node(60)),
        Fault("node-stopped", "node stopped for 60 s", stop_node(60)),
        Fault("api-gone", f"API server gone for {gone} s", stop_api(gone)),
    ]
