"""Faults of nodes and of the network between them."""

from __future__ import annotations

from collections.abc import Sequence

from tests.harness.cluster.faults import INTERFACE
from tools.faults.injection import Choice, Injection, lasting, other_pod, store_pod
from tools.faults.runners import Runner
from tools.faults.sandbox import Sandbox

TAINT = "trainyard.test/ends-soon"
DRAIN = ("--ignore-daemonsets", "--delete-emptydir-data", "--timeout=90s")


def pause_node(seconds: float, choose: Choice) -> Injection:
    """Freeze all processes of a node, as a hypervisor does during a live migration."""

    def inject(sandbox: Sandbox, runner: Runner) -> float:
        node = sandbox.node_of(choose(runner))
        return lasting(
            seconds, lambda: sandbox.engine.check("pause", node), lambda: sandbox.engine.check("unpause", node)
        )

    return inject


def stop_node(seconds: float, choose: Choice) -> Injection:
    """Switch a node off, and on again."""

    def inject(sandbox: Sandbox, runner: Runner) -> float:
        node = sandbox.node_of(choose(runner))
        kill = ("kill", "--signal", "KILL", node)
        return lasting(seconds, lambda: sandbox.engine.check(*kill), lambda: sandbox.engine.check("start", node))

    return inject


def drain_node(seconds: float) -> Injection:
    """Drain a node as for its maintenance, and open it again a while after its last pod."""

    def inject(sandbox: Sandbox, runner: Runner) -> float:
        node = sandbox.node_of(runner.other_pod)
        return lasting(
            seconds, lambda: sandbox.kubectl("drain", node, *DRAIN), lambda: sandbox.kubectl("uncordon", node)
        )

    return inject


def taint_node(seconds: float) -> Injection:
    """Taint a node with NoExecute, as after the notice that a spot node ends, and remove the taint after a while."""

    def inject(sandbox: Sandbox, runner: Runner) -> float:
        node = sandbox.node_of(runner.other_pod)
        return lasting(
            seconds,
            lambda: sandbox.kubectl("taint", "node", node, f"{TAINT}=true:NoExecute"),
            lambda: sandbox.kubectl("taint", "node", node, f"{TAINT}-"),
        )

    return inject


def partition(seconds: float, *, share: float = 1) -> Injection:
    """Drop this share of the packets between the two pods, at random; other traffic is not affected."""
    chance = "" if share == 1 else f" -m statistic --mode random --probability {share}"

    def inject(sandbox: Sandbox, runner: Runner) -> float:
        pods = (store_pod(runner), other_pod(runner))
        first, second = (sandbox.kubectl("get", "pod", pod, "--output=jsonpath={.status.podIP}") for pod in pods)
        dropped = [f"FORWARD -s {source} -d {target}{chance}" for source, target in ((first, second), (second, first))]

        def rules(verb: str) -> None:
            for node in sandbox.cluster.workers:
                _drop(sandbox, node, verb, dropped)

        return lasting(seconds, lambda: rules("-I"), lambda: rules("-D"))

    return inject


def cut_off_node(seconds: float, choose: Choice) -> Injection:
    """Drop all packets between a node and the others, those of the API server too; its volumes are not affected."""
    dropped = (f"INPUT -i {INTERFACE}", f"OUTPUT -o {INTERFACE}", f"FORWARD -i {INTERFACE}", f"FORWARD -o {INTERFACE}")

    def inject(sandbox: Sandbox, runner: Runner) -> float:
        node = sandbox.node_of(choose(runner))
        return lasting(
            seconds, lambda: _drop(sandbox, node, "-I", dropped), lambda: _drop(sandbox, node, "-D", dropped)
        )

    return inject


def _drop(sandbox: Sandbox, node: str, verb: str, packets: Sequence[str]) -> None:
    commands = [f"iptables -w {verb} {found} -j DROP" for found in packets]
    sandbox.on_node(node, "sh", "-c", " && ".join(commands))
