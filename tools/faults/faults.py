"""Faults, each injected into a real cluster and removed again. An injection returns the time of the fault."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.harness.cluster import api
from tests.harness.cluster.errors import ClusterError
from tests.harness.jobs import operator
from tools.faults.runners import Runner
from tools.faults.sandbox import Sandbox

Injection = Callable[[Sandbox, Runner], float]
MANIFEST = "kube-apiserver.yaml"
# Ends all processes of a pod at once, as the loss of its node does.
AT_ONCE = ("--grace-period=0", "--force")
# The youngest process of a pod with a second of CPU time is a rank: torchrun and its supervisor are older.
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
# Like a program that writes more than the volume holds: space that becomes free is used within a millisecond.
FILL = """
open(F, ">>", $ARGV[0]); $zeros = "\\0" x 65536; $end = time + $ARGV[1];
while (time < $end) { defined(syswrite(F, $zeros)) or select(undef, undef, undef, 0.001) }
"""


@dataclass(frozen=True)
class Fault:
    """A fault; `what` is its description in the table.

    With `small` the checkpoints are on a small volume, which can be filled. The fault is injected `times` times;
    the last time counts.
    """

    name: str
    what: str
    inject: Injection
    small: bool = False
    times: int = 1


def kill_rank(sandbox: Sandbox, runner: Runner) -> float:
    """Kill one rank with SIGKILL, and no other process of its container."""
    return float(sandbox.kubectl("exec", runner.other_pod, "--", "sh", "-c", KILL_RANK).strip())


def delete_pod(sandbox: Sandbox, name: str, *options: str) -> float:
    """Delete a pod; its controller creates a new one of the same name. Without options it ends as in an eviction."""
    injected = time.time()
    sandbox.kubectl("delete", "pod", name, "--wait=false", *options)
    return injected


@contextmanager
def _temporary(do: Callable[[], object], undo: Callable[[], object]) -> Iterator[float]:
    injected = time.time()
    try:
        do()
        yield injected
    finally:
        undo()


def node_of(sandbox: Sandbox, pod: str) -> str:
    """Return the node of a pod."""
    return sandbox.kubectl("get", "pod", pod, "--output=jsonpath={.spec.nodeName}")


def pause_node(seconds: float) -> Injection:
    """Freeze all processes of a node, as a hypervisor does during a live migration."""

    def inject(sandbox: Sandbox, runner: Runner) -> float:
        node = node_of(sandbox, runner.other_pod)
        with _temporary(
            lambda: sandbox.engine.check("pause", node), lambda: sandbox.engine.check("unpause", node)
        ) as injected:
            time.sleep(seconds)
        return injected

    return inject


def stop_node(seconds: float) -> Injection:
    """Switch a node off, and on again."""

    def inject(sandbox: Sandbox, runner: Runner) -> float:
        node = node_of(sandbox, runner.other_pod)
        kill = ("kill", "--signal", "KILL", node)
        with _temporary(lambda: sandbox.engine.check(*kill), lambda: sandbox.engine.check("start", node)) as injected:
            time.sleep(seconds)
        return injected

    return inject


def kill_operator(sandbox: Sandbox, _runner: Runner) -> float:
    """Delete the operator's pod without a grace period, and wait for its successor."""
    injected = time.time()
    options = ("--all", "--namespace", operator.NAMESPACE)
    api.kubectl(sandbox.cluster.kubeconfig, "delete", "pods", *options, *AT_ONCE)
    operator.wait_available(sandbox.cluster)
    return injected


def stop_api(seconds: float) -> Injection:
    """Stop the API server, and start it again."""

    def inject(sandbox: Sandbox, _runner: Runner) -> float:
        node = sandbox.cluster.node_names[0]

        def take_away() -> None:
            # Without the manifest the kubelet does not restart the static pod.
            sandbox.on_node(node, "mv", f"/etc/kubernetes/manifests/{MANIFEST}", "/root/")
            api.wait_until(lambda: not _answers(sandbox), what="the API server to be gone", seconds=60)

        with _temporary(
            take_away, lambda: sandbox.on_node(node, "mv", f"/root/{MANIFEST}", "/etc/kubernetes/manifests/")
        ):
            # The fault begins when the API server is gone, not when the manifest is.
            injected = time.time()
            time.sleep(seconds)
        api.wait_until(lambda: _answers(sandbox), what="the API server to be back", seconds=120)
        return injected

    return inject


def _answers(sandbox: Sandbox) -> bool:
    try:
        api.kubectl(sandbox.cluster.kubeconfig, "get", "--raw", "/readyz", "--request-timeout=2s")
    except ClusterError:
        return False
    return True


def partition(seconds: float) -> Injection:
    """Drop all packets between the two pods; other traffic is not affected."""

    def inject(sandbox: Sandbox, runner: Runner) -> float:
        pods = (runner.rendezvous_pod, runner.other_pod)
        first, second = (sandbox.kubectl("get", "pod", pod, "--output=jsonpath={.status.podIP}") for pod in pods)

        def rules(verb: str) -> None:
            commands = [
                f"iptables -w {verb} FORWARD -s {source} -d {target} -j DROP"
                for source, target in ((first, second), (second, first))
            ]
            for node in sandbox.cluster.workers:
                sandbox.on_node(node, "sh", "-c", " && ".join(commands))

        with _temporary(lambda: rules("-I"), lambda: rules("-D")) as injected:
            time.sleep(seconds)
        return injected

    return inject


def fill_volume(seconds: float) -> Injection:
    """Fill the volume of the checkpoints for a while."""

    def inject(sandbox: Sandbox, _runner: Runner) -> float:
        ballast = f"{sandbox.small_folder}/{BALLAST}"
        with _temporary(
            lambda: sandbox.on_node(sandbox.small_node, "perl", "-e", FILL, ballast, str(seconds)),
            lambda: sandbox.on_node(sandbox.small_node, "rm", "-f", ballast),
        ) as injected:
            return injected

    return inject


RANK_KILLED = Fault("rank-killed", "SIGKILL of a rank", kill_rank)
OPERATOR_KILLED = Fault("operator-killed", "operator killed", kill_operator)


def all_faults(*, quick: bool = False) -> list[Fault]:
    """Return the faults of the table, in its order."""
    gone = 30 if quick else 120
    return [
        RANK_KILLED,
        # The kubelet restarts a container at once the first time, then with a back-off: 10 s, 20 s, up to 5 min.
        Fault("rank-killed-again", "SIGKILL of a rank once more", kill_rank, times=2),
        Fault("pod-deleted", "worker pod deleted", lambda sandbox, runner: delete_pod(sandbox, runner.other_pod)),
        Fault(
            "store-lost",
            "pod with the store deleted",
            lambda sandbox, runner: delete_pod(sandbox, runner.rendezvous_pod),
        ),
        Fault(
            "pod-killed",
            "worker pod killed",
            lambda sandbox, runner: delete_pod(sandbox, runner.other_pod, *AT_ONCE),
        ),
        Fault(
            "store-killed",
            "pod with the store killed",
            lambda sandbox, runner: delete_pod(sandbox, runner.rendezvous_pod, *AT_ONCE),
        ),
        OPERATOR_KILLED,
        Fault("volume-full", "volume full for 30 s", fill_volume(30), small=True),
        Fault("partition-short", "partition between the pods, 8 s", partition(8)),
        Fault("partition-long", "partition between the pods, 60 s", partition(60)),
        Fault("node-paused-short", "node paused for 8 s", pause_node(8)),
        Fault("node-paused-long", "node paused for 60 s", pause_node(60)),
        Fault("node-stopped", "node stopped for 60 s", stop_node(60)),
        Fault("api-gone", f"API server gone for {gone} s", stop_api(gone)),
    ]
