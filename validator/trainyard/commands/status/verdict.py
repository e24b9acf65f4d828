"""The state of a run in words: what it waits for, how far it is, or how it has ended."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from trainyard.commands.status import progress
from trainyard.commands.status.endings import ending, is_suspended
from trainyard.commands.status.failures import Failure, failures
from trainyard.commands.status.gangs import waits_for
from trainyard.commands.status.obstacles import ORDER, Obstacle, brief, obstacle
from trainyard.commands.status.progress import Progress
from trainyard.commands.status.queue import waiting
from trainyard.commands.status.replicas import Replica, replicas
from trainyard.commands.status.scheduling import ALONE
from trainyard.commands.status.shape import Shape, shape
from trainyard.commands.status.snapshot import Snapshot, Tree, age, name, namespace, when
from trainyard.document.lookup import items, mapping, text

_REFUSED = ("FailedCreatePod", "FailedCreate", "FailedCreatePods")
_FORBIDDEN = re.compile(r"is forbidden: (.*)", re.DOTALL)
_WEBHOOK = re.compile(r'failed calling webhook "([^"]+)": .*: (.+)', re.DOTALL)
_DENIED = re.compile(r'admission webhook "([^"]+)" denied the request: (.*)', re.DOTALL)
_LONGEST_REFUSAL = 300
# A controller creates pods within seconds.
_SOON = 30

NEXT = {
    "image": "check `image` of the run, its pull secret, and that the nodes reach the registry",
    "config": "correct the Secret, ConfigMap or command that the message names",
    "network": "create the network, or correct `fabric.networks`: kubectl get network-attachment-definitions -A",
    "claim": "create the claim, or see kubectl describe pvc; a run on several nodes needs a class with ReadWriteMany",
    "volume": "kubectl describe pod shows the volume; its driver may not run on this node",
    "crash-loop": "trainyard logs RUN --failed | trainyard doctor -",
    "selector": "compare the node selector with kubectl get nodes --show-labels",
    "unschedulable": "kubectl describe pod shows what the scheduler says in full",
    "resources": "wait until nodes are free, or request less; if no node ever has them, check the device plugin",
    "gang": "the pods start together when there is room for all of them",
    "gated": "the controller that set the gates removes them",
    "refused": "correct what the message names; the controller tries again by itself",
    "absent": "check that the operator of this kind runs, and its log",
    "suspended": "resume it as it was suspended: helm upgrade --set runPolicy.suspend=false",
    "queued": "kubectl describe workload shows all reasons of Kueue",
    "failed": "trainyard logs RUN --failed | trainyard doctor -",
}
# A run in one of these states stays there until a person changes something.
BLOCKED = frozenset(
    ("image", "config", "network", "claim", "volume", "crash-loop", "selector", "unschedulable", "refused", "failed")
)


class Verdict(NamedTuple):
    """The state of a run: one word for programs, a headline, the last words of a failed rank, and the next step."""

    job: Tree
    state: str
    headline: str
    details: tuple[str, ...]
    next: str
    replicas: tuple[Replica, ...]
    expected: int | None
    progress: Progress
    failures: tuple[Failure, ...] = ()

    @property
    def kind(self) -> str:
        """The kind of the run."""
        return text(self.job, "kind")

    @property
    def title(self) -> str:
        """Kind, namespace and name."""
        return f"{self.kind} {namespace(self.job)}/{name(self.job)}"

    @property
    def is_blocked(self) -> bool:
        """True if the run has failed, or does not start before a person changes something."""
        return self.state in BLOCKED


def judge(snapshot: Snapshot) -> Verdict:
    """Returns the state of a run."""
    planned = shape(snapshot)
    found = replicas(snapshot, planned)
    known = progress.from_train_job(snapshot.job)
    for replica in found:
        known = replica.progress.or_else(known)
    failed = failures(snapshot, found)
    state, headline, details = _state(snapshot, found, planned, known, failed)
    return Verdict(
        job=snapshot.job,
        state=state,
        headline=headline,
        details=details,
        next=NEXT.get(state, "").replace("RUN", f"{name(snapshot.job)} -n {namespace(snapshot.job)}"),
        replicas=found,
        expected=planned.pods,
        progress=known,
        failures=tuple(failed),
    )


State = tuple[str, str, tuple[str, ...]]


def _state(
    snapshot: Snapshot, found: Sequence[Replica], planned: Shape, known: Progress, failed: Sequence[Failure]
) -> State:
    ended = ending(snapshot.job)
    if ended is not None:
        return ("succeeded", "succeeded", ()) if ended[0] == "succeeded" else _failed(failed, ended[1])
    queued = waiting(snapshot)
    if queued is not None and not any(replica.runs for replica in found):
        return "queued", queued.words(), ()
    if is_suspended(snapshot.job):
        return "suspended", "suspended: it has no pods until it is resumed", ()
    obstacles = [one for one in (obstacle(replica, snapshot) for replica in found) if one is not None]
    worst = min(obstacles, key=lambda one: (ORDER.index(one.kind), ALONE in one.words), default=None)
    complete = planned.pods is None or len(found) >= planned.pods
    refused = None if complete else _refusal(snapshot)
    if refused is not None and (worst is None or worst.kind == "starting"):
        return "refused", f"its pods are refused: {refused}", ()
    if not found:
        return _without_pods(snapshot, planned)
    return _with_pods(found, planned, worst, known)


def _failed(failed: Sequence[Failure], message: str) -> State:
    if not failed:
        return "failed", f"failed: {brief(message)}" if message else "failed", ()
    first = failed[0]
    also = [one for one in failed[1:] if one.time == first.time and one.pod != first.pod]
    same = f"; {also[0].pod} failed in the same second" if also else ""
    lines = [line for line in first.message.splitlines() if line.strip()]
    return "failed", f"failed: {first.words()}{same}", tuple(lines[-3:])


def _without_pods(snapshot: Snapshot, planned: Shape) -> State:
    # The training operator creates the pods once Volcano has admitted their PodGroup.
    if waits := waits_for(snapshot):
        return "gang", f"waits for its gang: {waits}; 0 of {planned.pods or 'its'} pods run", ()
    seconds = age(snapshot, text(snapshot.job, "metadata", "creationTimestamp"))
    if seconds is not None and seconds < _SOON:
        return "starting", "starts: its pods are not created yet", ()
    return "absent", f"has no pods, and no controller says why{_gangs(snapshot)}", ()


def _gangs(snapshot: Snapshot) -> str:
    for group in snapshot.groups:
        for condition in items(group, "status", "conditions"):
            if text(condition, "type") == "Unschedulable" and text(condition, "status") == "True":
                return f"; its PodGroup {name(group)}: {brief(text(condition, 'message'))}"
    wanted = [key for runtime in snapshot.runtimes for key in mapping(runtime, "spec", "podGroupPolicy")]
    if wanted and not snapshot.groups:
        # Trainer makes the PodGroup before the pods, and stops there.
        return f"; Trainer made no PodGroup for its policy `{wanted[0]}`: may it, and is the kind served?"
    return ""


def _with_pods(found: Sequence[Replica], planned: Shape, worst: Obstacle | None, known: Progress) -> State:
    running = sum(1 for replica in found if replica.runs)
    total = max(planned.pods or 0, len(found))
    if worst is not None:
        return worst.kind, f"{worst.words}; {running} of {total} pods run", ()
    if running == 0:
        return "ending", "all pods have ended; the controller has not reported the end yet", ()
    where = ""
    if known.step is not None:
        where = f", step {known.step:,}" + (f" of {known.steps:,}" if known.steps else "")
    return "running", f"running: {running} of {total} pods{where}", ()


def _refusal(snapshot: Snapshot) -> str | None:
    """Returns why the API server refuses the pods, from the newest event of the objects that create them."""
    for event in sorted(snapshot.events, key=when, reverse=True):
        if text(event, "reason") in _REFUSED and text(event, "involvedObject", "kind") != "Pod":
            words = " ".join(text(event, "message").split())
            return _shortened(words)
    return None


def _shortened(words: str) -> str:
    if dead := _WEBHOOK.search(words):
        return f"the webhook {dead[1]} does not answer: {dead[2]}"
    if denied := _DENIED.search(words):
        return f"the webhook {denied[1]} denies them: {denied[2]}"
    found = _FORBIDDEN.search(words)
    return (found[1] if found else words)[:_LONGEST_REFUSAL]
