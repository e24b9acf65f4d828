"""Faults of the operator, of the API server and of DNS."""

from __future__ import annotations

import functools
import time

from tests.harness.cluster import api
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.errors import ClusterError
from tests.harness.jobs import operator
from tools.faults.injection import Injection, other_pod, temporary
from tools.faults.pods import AT_ONCE, delete_pod
from tools.faults.runners import Runner
from tools.faults.sandbox import Sandbox

MANIFEST = "kube-apiserver.yaml"
DNS, DNS_PODS = "deployment/coredns", "k8s-app=kube-dns"


def kill_operator(sandbox: Sandbox, _runner: Runner) -> float:
    """Delete the operator's pod without a grace period, and wait for its successor."""
    injected = time.time()
    options = ("--all", "--namespace", operator.NAMESPACE)
    api.kubectl(sandbox.cluster.kubeconfig, "delete", "pods", *options, *AT_ONCE)
    operator.wait_available(sandbox.cluster)
    return injected


def replace_operator(cluster: Cluster) -> None:
    """Give the operator a new pod, which waits for no back-off after restarts of the old one.

    The old pod serves the webhook until the new one is ready: after a deletion the Deployment counts as Available until
    its controller looks, and a job that is created meanwhile is refused.
    """
    deployment = f"deployment/{operator.RELEASE}"
    for command in (("restart",), ("status", "--timeout", f"{operator.READY_SECONDS}s")):
        api.kubectl(cluster.kubeconfig, "--namespace", operator.NAMESPACE, "rollout", *command, deployment)


def stop_api(seconds: float) -> Injection:
    """Stop the API server, and start it again."""

    def inject(sandbox: Sandbox, _runner: Runner) -> float:
        node = sandbox.cluster.node_names[0]

        def take_away() -> None:
            # Without the manifest the kubelet does not restart the static pod.
            sandbox.on_node(node, "mv", f"/etc/kubernetes/manifests/{MANIFEST}", "/root/")
            api.wait_until(lambda: not _answers(sandbox), what="the API server to be gone", seconds=60)

        with temporary(
            take_away, lambda: sandbox.on_node(node, "mv", f"/root/{MANIFEST}", "/etc/kubernetes/manifests/")
        ):
            # The fault begins when the API server is gone, not when the manifest is.
            injected = time.time()
            time.sleep(seconds)
        api.wait_until(lambda: _answers(sandbox), what="the API server to be back", seconds=120)
        return injected

    return inject


def kill_pod_without_dns(seconds: float) -> Injection:
    """Stop the cluster's DNS, kill a pod, and start DNS again after a while: the new pod finds no name meanwhile."""
    kill = delete_pod(other_pod, *AT_ONCE)

    def inject(sandbox: Sandbox, runner: Runner) -> float:
        kubectl = functools.partial(api.kubectl, sandbox.cluster.kubeconfig, "--namespace", "kube-system")
        replicas = kubectl("get", DNS, "--output=jsonpath={.spec.replicas}")

        def take_away() -> None:
            kubectl("scale", DNS, "--replicas=0")
            kubectl("wait", "pods", "--selector", DNS_PODS, "--for=delete", "--timeout=60s")

        with temporary(take_away, lambda: kubectl("scale", DNS, f"--replicas={replicas}")):
            injected = kill(sandbox, runner)
            time.sleep(seconds)
        return injected

    return inject


def _answers(sandbox: Sandbox) -> bool:
    try:
        api.kubectl(sandbox.cluster.kubeconfig, "get", "--raw", "/readyz", "--request-timeout=2s")
    except ClusterError:
        return False
    return True
