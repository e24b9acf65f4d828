"""A server holds a claim that only one node can mount, and other pods need the same claim.

A claim with the access mode `ReadWriteOnce` is attached to one node. A pod of another workload on another node stays in
`ContainerCreating` with `Multi-Attach error for volume` as long as the server runs. It starts only if the scheduler
happens to choose the same node. An InferenceService with `storageUri: pvc://CLAIM/PATH` mounts the claim, too.

The rule compares the workloads of one file, of which one runs all the time: a Deployment, a StatefulSet or a Pod that
is restarted. It leaves out pods that are bound to one node or to each other, and volumes that are local or shared.
A claim without a class counts only if the files have the default class: that of a small cluster is often local.

Request `ReadWriteMany` from a storage class that supports it, or remove the pod that only copies files.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainyard.analysis.objects.claims import access_modes, claim_of, is_attached_to_node
from trainyard.analysis.objects.known_objects import Known
from trainyard.analysis.pods.placement import is_on_one_node
from trainyard.document.document import Place
from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Pod, Project, Run, Workload

SERVERS = ("Deployment", "ReplicaSet", "StatefulSet")
URI = "pvc://"


@rule(
    code="RF041",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes.io/docs/concepts/storage/persistent-volumes: ReadWriteOnce is read-write by a single node",
        "kserve/kserve pkg/controller: storageUri pvc:// mounts the claim",
        "github.com/sageox/agent-toolkit pull 15, github.com/kserve/kserve issue 3409",
    ),
    needs=("PersistentVolumeClaim",),
)
def claim_of_several_workloads(run: Workload, context: Context) -> Iterator[Problem]:
    """Report claims that a server holds while others need them."""
    for held in _held.of(context.project).get(run.at, ()):
        if held.other and is_attached_to_node(held.claim, context.project):
            name, place = held.other
            yield Problem(
                held.at,
                f"claim `{held.claim.name}` is {min(access_modes(held.claim))}, and {name} needs it too: it does not "
                "start on another node",
                "request ReadWriteMany, or let one of them have the claim",
                related=((place, name), (held.claim.at.child("spec", "accessModes"), "the access modes")),
            )


class _Held(NamedTuple):
    """A claim of the same file, the place at which a server names it, and another workload with its place."""

    claim: Known
    at: Place
    other: tuple[str, Place] | None


def _find(project: Project) -> dict[Place, list[_Held]]:
    """Returns the claims of one file by the first server that holds each."""
    holders: dict[int, tuple[Run, _Held]] = {}
    waiting: dict[int, tuple[str, Place]] = {}
    for run in project.runs:
        for claim, at in _claims(run, project):
            name = f"{run.kind} `{run.name}`"
            if _stays(run) and id(claim) not in holders:
                holders[id(claim)] = run, _Held(claim, at, None)
            elif not any(_is_bound(role.pod) for role in run.roles):
                waiting.setdefault(id(claim), (name, at))
    uris = _uris(project)
    found: dict[Place, list[_Held]] = {}
    for key, (run, held) in holders.items():
        source = id(held.claim.at.document.source)
        other = waiting.get(key) or uris.get((source, held.claim.name))
        found.setdefault(run.at, []).append(held._replace(other=other))
    return found


def _uris(project: Project) -> dict[tuple[int, str], tuple[str, Place]]:
    """Returns the services of KServe that mount a claim, by their file and its name."""
    found: dict[tuple[int, str], tuple[str, Place]] = {}
    for service in project.of_kind("InferenceService"):
        for field, model in mapping(service.tree, "spec", "predictor").items():
            uri = text(mapping(model), "storageUri")
            if uri.startswith(URI):
                at = service.at.child("spec", "predictor", field, "storageUri")
                claim = uri.removeprefix(URI).partition("/")[0]
                key = id(service.at.document.source), claim
                found.setdefault(key, (f"InferenceService `{service.name}`", at))
    return found


def _claims(run: Run, project: Project) -> Iterator[tuple[Known, Place]]:
    """Yields the claims that a run mounts and its file defines."""
    for role in run.roles:
        for volume in role.pod.volumes:
            claim = claim_of(volume, run, project)
            if claim is not None and claim.at.document.source is run.at.document.source:
                yield claim, volume.at.child(volume.kind, "claimName")


def _stays(run: Run) -> bool:
    """True if the pods of a workload run all the time, on any node."""
    if len(run.roles) != 1 or _is_bound(run.roles[0].pod):
        return False
    if run.kind in SERVERS:
        return bool(run.spec.get("replicas", 1) != 0)
    return run.kind == "Pod" and text(run.roles[0].pod.tree, "restartPolicy") in ("", "Always")


def _is_bound(pod: Pod) -> bool:
    return is_on_one_node(pod) or bool(mapping(pod.tree, "affinity", "podAffinity"))


# Each run asks, and comparing all with all would take quadratic time.
_held: LastIndex[Project, dict[Place, list[_Held]]] = LastIndex(_find)
