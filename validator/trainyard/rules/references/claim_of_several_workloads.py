"""A server holds a claim that only one node can mount, and other pods need the same claim.

A claim with the access mode `ReadWriteOnce` is attached to one node. A pod of another workload on another node stays in
`ContainerCreating` with `Multi-Attach error for volume` as long as the server runs. It starts only if the scheduler
happens to choose the same node. An InferenceService with `storageUri: pvc://CLAIM/PATH` mounts the claim, too.

The rule compares the workloads of one file, of which one runs all the time: a Deployment, a StatefulSet or a Pod that
is restarted. It leaves out pods that are bound to one node or to each other, and volumes that are local or shared.

Request `ReadWriteMany` from a storage class that supports it, or remove the pod that only copies files.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.claims import access_modes, claim_of, is_attached_to_node
from trainyard.analysis.objects.known_objects import Known
from trainyard.analysis.pods.placement import is_on_one_node
from trainyard.document.document import Place
from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Context, Problem, rule
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
    if not _stays(run):
        return
    for claim, at in _claims(run, context.project):
        if claim.at.document.source is not run.at.document.source or not is_attached_to_node(claim, context.project):
            continue
        other = next(_others(run, claim, context.project), None)
        if other is not None:
            name, place = other
            yield Problem(
                at,
                f"claim `{claim.name}` is {min(access_modes(claim))}, and {name} needs it too: it does not start on "
                "another node",
                "request ReadWriteMany, or let one of them have the claim",
                related=((place, name), (claim.at.child("spec", "accessModes"), "the access modes")),
            )


def _stays(run: Run) -> bool:
    """True if the pods of a workload run all the time, on any node."""
    if len(run.roles) != 1 or _is_bound(run.roles[0].pod):
        return False
    if run.kind in SERVERS:
        return run.spec.get("replicas", 1) != 0
    return run.kind == "Pod" and text(run.roles[0].pod.tree, "restartPolicy") in ("", "Always")


def _is_bound(pod: Pod) -> bool:
    return is_on_one_node(pod) or bool(mapping(pod.tree, "affinity", "podAffinity"))


def _claims(run: Run, project: Project) -> Iterator[tuple[Known, Place]]:
    for role in run.roles:
        for volume in role.pod.volumes:
            claim = claim_of(volume, run, project)
            if claim is not None:
                yield claim, volume.at.child(volume.kind, "claimName")


def _others(run: Run, claim: Known, project: Project) -> Iterator[tuple[str, Place]]:
    """Yields the workloads of the same file that need the claim, with the places that name it."""
    source = run.at.document.source
    for other in project.runs:
        if other.at.document.source is not source or other.at == run.at or any(map(_is_bound, _pods(other))):
            continue
        # Of two servers, the first one is reported.
        if _stays(other) and other.at.locate().line < run.at.locate().line:
            continue
        for found, at in _claims(other, project):
            if found is claim:
                yield f"{other.kind} `{other.name}`", at
    for service in project.of_kind("InferenceService"):
        predictor = mapping(service.tree, "spec", "predictor")
        for field in ("model", *predictor):
            uri = text(mapping(predictor.get(field)), "storageUri")
            same = service.namespace in ("", claim.namespace) or not claim.namespace
            if service.at.document.source is source and same and _names(uri, claim.name):
                yield f"InferenceService `{service.name}`", service.at.child("spec", "predictor", field, "storageUri")


def _pods(run: Run) -> list[Pod]:
    return [role.pod for role in run.roles]


def _names(uri: str, claim: str) -> bool:
    return uri.startswith(URI) and uri.removeprefix(URI).partition("/")[0] == claim
