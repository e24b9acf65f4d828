"""Nodes whose kubelet is silent: what proves that they are off, and when they are back.

A node that is off and one that has only lost its network look the same to the API server. The pods of the second one
may still write to their volumes, so nothing may replace them. Kubernetes asks to verify that a node is off before the
taint is set (https://kubernetes.io/docs/concepts/cluster-administration/node-shutdown/#non-graceful-node-shutdown).
"""

from __future__ import annotations

from datetime import datetime, timedelta

from nodehealth.clock import text
from nodehealth.config import Controller
from nodehealth.control.node import Node
from nodehealth.keys import IGNORED, OUT_OF_SERVICE, POWERED_OFF, SHUT_DOWN

# The proofs of `lostNodes.proofs`: of the cloud, of an administrator or a fencing program, and of a platform that cuts
# the power of each node that is silent for so long.
SHUTDOWN_TAINT, ANNOTATION, TIME = "shutdownTaint", "annotation", "time"


def proof(settings: Controller, node: Node, moment: datetime) -> str:
    """Returns which of the allowed proofs says that a silent node is off, or nothing."""
    if _reports(settings, node, moment):
        return ""
    if SHUTDOWN_TAINT in settings.off_proofs and node.shut_down:
        return SHUTDOWN_TAINT
    if ANNOTATION in settings.off_proofs and _stated(node, moment):
        return ANNOTATION
    over = _over(settings, node)
    if TIME in settings.off_proofs and over is not None and over <= moment:
        return TIME
    return ""


def shown(settings: Controller, found: str) -> str:
    """Returns a proof in words."""
    if found == SHUTDOWN_TAINT:
        return f"the cloud states by the taint {SHUT_DOWN} that the machine is shut down"
    if found == ANNOTATION:
        return f"its annotation {POWERED_OFF} states that it is off"
    return f"silent for {settings.off_seconds:g} s, after which the platform guarantees that it is off"


def doubt(settings: Controller, node: Node, moment: datetime) -> str:
    """Returns what an administrator must know of a silent node without proof; nothing while time may prove it."""
    if _reports(settings, node, moment):
        return "the kubelet is silent, but the agent reports: the node runs, and so may its pods. Restart the kubelet"
    over = _over(settings, node)
    if TIME in settings.off_proofs and over is not None and moment < over:
        return ""
    since = f" since {text(node.kubelet.since)}" if node.kubelet.since else ""
    what = f"the kubelet is silent{since}; its pods are not replaced, because they may still run"
    command = f"kubectl taint node {node.name} {OUT_OF_SERVICE}=nodeshutdown:NoExecute"
    if ANNOTATION in settings.off_proofs:
        command = f"kubectl annotate node {node.name} --overwrite {POWERED_OFF}=$(date -u +%Y-%m-%dT%H:%M:%SZ)"
    return f"{what}. Once it is certain that the node is off, run {command}"


def returned(settings: Controller, node: Node, moment: datetime) -> str:
    """Returns why a node that was taken out of service is back, or nothing."""
    if node.ignored:
        return f"an administrator keeps the node in service ({IGNORED})"
    since = node.kubelet.since
    if node.kubelet.status != "True" or since is None or moment - since < timedelta(seconds=settings.return_seconds):
        return ""
    return f"Ready since {text(since)}"


def _stated(node: Node, moment: datetime) -> bool:
    # A statement of an earlier outage is older than what the node has reported since. One of the future, which a wrong
    # clock or year makes, would hold for every outage until then.
    last = _latest(node.kubelet.beat or node.kubelet.since, node.beat)
    return node.powered_off is not None and last is not None and last < node.powered_off <= moment


def _over(settings: Controller, node: Node) -> datetime | None:
    """Returns when time proves that a node is off; None for one whose agent had not reported until then."""
    since, beat = node.kubelet.since, node.beat
    longest = timedelta(seconds=settings.agent_seconds)
    # Without its reports until then, the silence of an agent says nothing of its node.
    if since is None or beat is None or since - beat > 2 * longest:
        return None
    return max(since + timedelta(seconds=settings.off_seconds), beat + longest)


def _reports(settings: Controller, node: Node, moment: datetime) -> bool:
    """Returns true if the agent goes on to report although the kubelet has fallen silent."""
    since, beat = node.kubelet.since, node.beat
    return beat is not None and (since is None or since < beat > moment - timedelta(seconds=settings.agent_seconds))


def _latest(*moments: datetime | None) -> datetime | None:
    return max((one for one in moments if one is not None), default=None)
