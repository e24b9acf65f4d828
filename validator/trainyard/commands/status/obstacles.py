"""Why a pod does not run: the first thing that keeps it from its program."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from trainyard.commands.status.gangs import waits_for
from trainyard.commands.status.replicas import Replica, containers
from trainyard.commands.status.scheduling import refusal
from trainyard.commands.status.snapshot import Snapshot, Tree, name, when
from trainyard.document.lookup import integer, items, mapping, text

# From the gravest: one that a person has to remove comes before one that time may remove.
ORDER = (
    *("image", "config", "network", "claim", "volume", "crash-loop", "selector", "unschedulable"),
    *("resources", "gang", "gated", "starting"),
)
_IMAGE = ("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "RegistryUnavailable")
_CONFIG = ("CreateContainerConfigError", "CreateContainerError", "RunContainerError")
_ABSENT_NETWORK = re.compile(r"network-attachment-definition \(([^)]+)\) in namespace \(([^)]+)\)")
_LONGEST = 160


class Obstacle(NamedTuple):
    """Something that keeps a pod from running: `kind` is one of ORDER."""

    kind: str
    words: str


def obstacle(replica: Replica, snapshot: Snapshot) -> Obstacle | None:
    """Returns what keeps a pod from running, None if it runs or has ended."""
    pod = replica.pod
    if text(pod, "status", "phase") not in ("Pending", "Running"):
        return None
    refused = refusal(pod)
    if refused is not None:
        return _unscheduled(refused.kind, refused.words, pod, snapshot)
    found = next(_waiting(replica), None)
    if found is not None:
        return found
    if text(pod, "status", "phase") == "Running":
        return None
    return _sandbox(pod, snapshot) or Obstacle("starting", f"{replica.name} starts")


def _unscheduled(kind: str, words: str, pod: Tree, snapshot: Snapshot) -> Obstacle:
    if kind == "claim":
        return Obstacle("claim", f"claim {words} does not exist")
    if kind == "unbound":
        return _unbound(pod, snapshot)
    if kind == "selector":
        return Obstacle("selector", "no node matches the node selector or affinity")
    if kind == "resources":
        return Obstacle("resources", f"waits for resources: no node has enough {words} free")
    if kind == "gang":
        return Obstacle("gang", f"waits for its gang: {waits_for(snapshot) or brief(words)}")
    if kind == "gated":
        return Obstacle("gated", f"waits for its scheduling gates: {words}")
    return Obstacle("unschedulable", f"unschedulable: {brief(words)}")


def _unbound(pod: Tree, snapshot: Snapshot) -> Obstacle:
    used = [text(volume, "persistentVolumeClaim", "claimName") for volume in items(pod, "spec", "volumes")]
    for claim in snapshot.claims:
        if name(claim) in used and text(claim, "status", "phase") != "Bound":
            reason = next((text(event, "message") for event in events_of(snapshot, name(claim))), "")
            return Obstacle("claim", f"claim {name(claim)} is not bound{f': {brief(reason)}' if reason else ''}")
    # The claim was bound a moment ago, and the scheduler tries again.
    return Obstacle("starting", f"{name(pod)} waits for its claim to be bound")


def _waiting(replica: Replica) -> Iterator[Obstacle]:
    specs = {text(one, "name"): one for one in items(replica.pod, "spec", "containers")}
    specs |= {text(one, "name"): one for one in items(replica.pod, "spec", "initContainers")}
    for status in containers(replica.pod):
        reason, said = (text(status, "state", "waiting", field) for field in ("reason", "message"))
        if reason in _IMAGE:
            image = text(specs.get(text(status, "name")), "image") or text(status, "image")
            yield Obstacle("image", f"image {image} cannot be pulled: {_last_part(said) or reason}")
        elif reason in _CONFIG:
            yield Obstacle("config", f"{replica.name} cannot start: {brief(said or reason)}")
        elif reason == "CrashLoopBackOff":
            code = integer(mapping(status, "lastState", "terminated"), "exitCode")
            count = integer(status, "restartCount") or 0
            who = f"rank {replica.rank} ({replica.name})" if replica.rank else replica.name
            code_words = "" if code is None else f", exit code {code}"
            yield Obstacle("crash-loop", f"{who} crashes again and again: {count} restarts{code_words}")


def _sandbox(pod: Tree, snapshot: Snapshot) -> Obstacle | None:
    """Returns what keeps the kubelet from the pod's network and volumes, which only events tell."""
    for event in events_of(snapshot, name(pod)):
        reason, message = text(event, "reason"), text(event, "message")
        if absent := _ABSENT_NETWORK.search(message):
            return Obstacle("network", f"network {absent[1]} does not exist in namespace {absent[2]}")
        if reason == "FailedCreatePodSandBox":
            return Obstacle("network", f"the network of {name(pod)} cannot be set up: {_last_part(message)}")
        if reason in ("FailedMount", "FailedAttachVolume", "FailedMapVolume"):
            return Obstacle("volume", f"a volume of {name(pod)} cannot be mounted: {brief(message)}")
    return None


def events_of(snapshot: Snapshot, object_name: str) -> list[Tree]:
    """Returns the warnings about an object, newest first."""
    found = [
        event
        for event in snapshot.events
        if text(event, "involvedObject", "name") == object_name and text(event, "type") == "Warning"
    ]
    return sorted(found, key=when, reverse=True)


def brief(words: str) -> str:
    """Returns words on one line, cut after the first 160 characters."""
    line = " ".join(words.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def _last_part(message: str) -> str:
    """Returns the cause at the end of a chain of errors, such as `connection refused`."""
    parts = [part.strip(" '\"") for part in " ".join(message.split()).split(": ")]
    return brief(next((part for part in reversed(parts) if part), ""))
