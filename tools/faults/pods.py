"""Faults of pods and of the processes in them."""

from __future__ import annotations

import json
import time

from tests.harness.cluster import api
from tests.harness.cluster.images import system
from tests.harness.jobs.namespace import PYTORCHJOB, pods_of
from tools.faults.injection import Choice, Injection, lasting, other_pod
from tools.faults.runners import Runner
from tools.faults.sandbox import EVENTS, Sandbox

# Ends all processes of a pod at once, as the loss of its node does.
AT_ONCE = ("--grace-period=0", "--force")
# The youngest process with a second of CPU time is a rank: torchrun and its supervisor are older.
FIND_RANK = """
rank=0
for file in {files}; do
  set -- $(cat "$file")
  if [ "${{14:-0}}" -gt 100 ] && [ "$1" -gt "$rank" ]; then rank=$1; fi
done
"""
KILL_RANK = f"""{FIND_RANK.format(files="/proc/[0-9]*/stat")}
date +%s.%N
kill -9 "$rank"
"""
EXIT_FILE = "exit.py"
EXIT = "import os; os._exit(1)"
# The rank runs the file between two of its own instructions, which Python 3.14 and newer can do. On the node, because
# a container may not write to the memory of its processes. A UID has `_` for `-` in the names of some cgroups.
END_RANK = f"""{FIND_RANK.format(files="$(grep -l @UID@ /proc/[0-9]*/cgroup | sed s/cgroup$/stat/)")}
nsenter --target "$rank" --mount --pid \\
  python3 -c 'import sys, time; print(time.time()); sys.remote_exec(int(sys.argv[1]), sys.argv[2])' \\
  "$(awk '/^NSpid:/ {{ print $NF }}' "/proc/$rank/status")" /{EVENTS}/{EXIT_FILE}
"""


def kill_rank(sandbox: Sandbox, runner: Runner) -> float:
    """Kill one rank with SIGKILL, and no other process of its container."""
    return float(sandbox.kubectl("exec", runner.other_pod, "--", "sh", "-c", KILL_RANK).strip())


def end_rank(sandbox: Sandbox, runner: Runner) -> float:
    """Let one rank exit by itself, with status 1."""
    pod = runner.other_pod
    (sandbox.host_folder(EVENTS) / EXIT_FILE).write_text(EXIT)
    uid = sandbox.kubectl("get", "pod", pod, "--output=jsonpath={.metadata.uid}")
    script = END_RANK.replace("@UID@", uid.replace("-", "."))
    return float(sandbox.on_node(sandbox.node_of(pod), "sh", "-c", script))


def delete_pod(choose: Choice, *options: str) -> Injection:
    """Delete a pod; its controller creates a new one of the same name. Without options it gets SIGTERM."""

    def inject(sandbox: Sandbox, runner: Runner) -> float:
        injected = time.time()
        sandbox.kubectl("delete", "pod", choose(runner), "--wait=false", *options)
        return injected

    return inject


def evict_pod(sandbox: Sandbox, runner: Runner) -> float:
    """Evict a pod by the API, as tools that empty nodes do."""
    pod = runner.other_pod
    eviction = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": pod, "namespace": sandbox.namespace},
    }
    path = f"/api/v1/namespaces/{sandbox.namespace}/pods/{pod}/eviction"
    injected = time.time()
    api.kubectl(sandbox.cluster.kubeconfig, "create", "--raw", path, "--filename=-", stdin=json.dumps(eviction))
    return injected


def keep_away(seconds: float) -> Injection:
    """Kill a pod, and admit its successor to the node only after a while."""

    def inject(sandbox: Sandbox, runner: Runner) -> float:
        node = sandbox.node_of(runner.other_pod)
        kill = delete_pod(other_pod, *AT_ONCE)

        def leave() -> None:
            sandbox.kubectl("cordon", node)
            kill(sandbox, runner)

        return lasting(seconds, leave, lambda: sandbox.kubectl("uncordon", node))

    return inject


def preempt_pod(seconds: float) -> Injection:
    """Create a pod of a higher priority that does not bear the pod beside it, and remove it after a while."""

    def inject(sandbox: Sandbox, runner: Runner) -> float:
        intruder = _intruder(sandbox, runner, sandbox.node_of(runner.other_pod))
        priority = {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": sandbox.namespace},
            "value": 1000,
        }
        return lasting(
            seconds,
            lambda: api.apply(sandbox.cluster.kubeconfig, priority, intruder),
            lambda: sandbox.kubectl(
                "delete", "--ignore-not-found", f"pod/{runner.name}-intruder", f"priorityclass/{sandbox.namespace}"
            ),
        )

    return inject


def _intruder(sandbox: Sandbox, runner: Runner, node: str) -> dict[str, object]:
    label, _, name = pods_of(PYTORCHJOB, runner.name).partition("=")
    apart = {"labelSelector": {"matchLabels": {label: name}}, "topologyKey": "kubernetes.io/hostname"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"{runner.name}-intruder", "namespace": sandbox.namespace},
        "spec": {
            "priorityClassName": sandbox.namespace,
            "nodeSelector": {"kubernetes.io/hostname": node},
            "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [apart]}},
            "terminationGracePeriodSeconds": 0,
            "containers": [
                {
                    "name": "intruder",
                    "image": system.reference(system.KUBECTL),
                    "imagePullPolicy": "Never",
                    "command": ["sleep", "infinity"],
                }
            ],
        },
    }
