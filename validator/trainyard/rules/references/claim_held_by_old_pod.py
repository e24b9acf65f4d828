"""An update of the Deployment starts the new pod while the old one holds the volume, which only one node can mount.

A Deployment rolls by default: it starts a new pod before it stops the old one. A claim with the access mode
`ReadWriteOnce` is attached to the node of the old pod. On another node, the new pod stays in `ContainerCreating` with
`Multi-Attach error for volume`, and never gets ready, so the old one is never stopped. On the same node, both programs
write to the volume for a while.

The rule applies to Deployments of one replica whose claim is in the files. It leaves out pods that are bound to one
node, and volumes that are local or shared, such as NFS, by the name of the storage class or the source of the volume.
A claim without a class counts only if the files have the default class: that of a small cluster is often local.

The first Deployment of the files is reported, with the number of the others.

Write `strategy: {type: Recreate}`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.claims import access_modes, claim_of, is_attached_to_node
from trainyard.analysis.objects.known_objects import Known
from trainyard.analysis.pods.placement import is_on_one_node
from trainyard.document.document import Place
from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Run, Workload
from trainyard.startup import NamedTuple

_MOST = 8


class _Held(NamedTuple):
    """A claim that the old pod of a Deployment holds; `at` is where the pod names it."""

    run: Run
    claim: Known
    at: Place


@rule(
    code="RF040",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes v1.34.4 pkg/apis/apps/v1/defaults.go: SetDefaults_Deployment, maxSurge",
        "kubernetes v1.34.4 pkg/controller/volume/attachdetach/reconciler: Multi-Attach error",
        "github.com/GoogleCloudPlatform/kubernetes-engine-samples issue 90",
        "github.com/datopian/ckan-cloud-helm pull 20",
    ),
    needs=("PersistentVolumeClaim",),
)
def claim_held_by_old_pod(run: Workload, context: Context) -> Iterator[Problem]:
    """Report Deployments that roll on a volume of one node, at the first one."""
    found = _held_in.of(context.project)
    if not found or found[0].run is not run:
        return
    first, *others = found
    mode = min(access_modes(first.claim))
    several = f", as do {len(others)} more Deployments with such claims"
    more = "" if not others else several if len(others) > 1 else ", as does another Deployment with such a claim"
    yield Problem(
        first.at,
        f"an update starts the new pod while the old one holds claim `{first.claim.name}`, which is {mode}: on "
        f"another node it waits for ever{more}",
        "write `strategy: {type: Recreate}`",
        related=(
            (first.claim.at.child("spec", "accessModes"), "the access modes"),
            *((other.at, "another one") for other in others[:_MOST]),
        ),
    )


def _find(project: Project) -> tuple[_Held, ...]:
    """Returns the held claim of each Deployment with one."""
    return tuple(held for run in project.runs if (held := _held(run, project)) is not None)


def _held(run: Run, project: Project) -> _Held | None:
    role = run.roles[0] if run.kind == "Deployment" and len(run.roles) == 1 else None
    strategy = mapping(run.spec, "strategy")
    surge = str(mapping(strategy, "rollingUpdate").get("maxSurge", "25%"))
    if role is None or run.spec.get("replicas", 1) != 1 or is_on_one_node(role.pod):
        return None
    if text(strategy, "type") not in ("", "RollingUpdate") or surge in ("0", "0%"):
        return None
    for volume in role.pod.volumes:
        claim = claim_of(volume, run, project)
        if claim is not None and is_attached_to_node(claim, project):
            return _Held(run, claim, volume.at.child(volume.kind, "claimName"))
    return None


_held_in: LastIndex[Project, tuple[_Held, ...]] = LastIndex(_find)
