"""The container mounts a volume that the pod does not have: the API server refuses the pod.

The name of a volume mount must be that of an entry of `volumes` of the same pod. `kubectl apply` of a Deployment or a
Job fails with "volumeMounts[0].name: Not found". A job of Kubeflow is accepted, since its CRD compares no names: the
operator then fails to create each pod, and only its events show the reason. The same holds for `volumeDevices`.

The rule checks the pods of kinds whose pods are all in the file. Other controllers, and Kubeflow Trainer for its
runtimes, may add volumes. A StatefulSet and a Workflow of Argo make volumes of their `volumeClaimTemplates`, and a
JobSet of its `volumeClaimPolicies`. The mpi-operator adds `mpi-job-config` and `ssh-auth`, and a webhook in the files
may add any volume to the pods that it chooses by a label. A patch leaves volumes to the object that it changes: a pod
with a container without an image is one, and so is a file whose path has the word `patch` or `overlay`. A volume that a
patch of a kustomization names, or one for mounts as a whole, may be added.

Correct the name, or add the volume to the pod.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.objects.patches import is_patch, may_be_patched
from trainyard.analysis.pods.webhooks import is_completed_by_webhook
from trainyard.document.document import Edit, SetValue
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.engine.suggestions import closest_match, format_list
from trainyard.facts.jobs.kubeflow import RUNTIMES
from trainyard.loaders.schemas.partial import is_named_patch
from trainyard.model.run import Container, Pod, Run

ALIKE = 0.75
OF_MPI_OPERATOR = frozenset(("mpi-job-config", "mpi-job-kubectl", "ssh-auth"))


@rule(
    code="SM007",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes v1.34.4 pkg/apis/core/validation/validation.go: ValidateVolumeMounts, ValidateVolumeDevices",
        "kubernetes-sigs/jobset site/static/examples/volume-claim-policy/single-pvc.yaml",
        "kubeflow/mpi-operator v0.8.0 pkg/controller/mpi_job_controller.go: configVolumeName, sshAuthVolume",
    ),
    fix="unsafe",
    needs=("volumeMounts", "volumeDevices"),
)
def mount_of_absent_volume(container: Container, context: Context) -> Iterator[Problem]:
    """Report a mount whose name is not that of a volume."""
    pod, run = context.pod, context.run
    # Kubeflow Trainer adds volumes to a runtime.
    if pod is None or run is None or run.kind in ("TrainJob", *RUNTIMES) or not has_all_pods(run):
        return
    if is_patch(pod) or is_named_patch(container.at.document):
        return
    known = None
    for field in ("volumeMounts", "volumeDevices"):
        for index, mount in enumerate(items(container.tree, field)):
            name = text(mount, "name")
            if not name or pod.volume(name) is not None:
                continue
            known = _volumes(pod, run) if known is None else known
            if name in known or "{{" in name or "${" in name:
                continue
            if is_completed_by_webhook(pod, context.project):
                return
            if not may_be_patched(container.at, run, context.project, name, field):
                at = container.at.child(field, index, "name")
                meant = closest_match(name, known, ALIKE)
                edits: tuple[Edit, ...] = (SetValue(at, meant),) if meant else ()
                yield Problem(at, f"the pod has no volume `{name}`, so it is never created", _help(meant, known), edits)


def _help(meant: str | None, known: set[str]) -> str:
    if meant is not None:
        return f"did you mean `{meant}`?"
    listed = format_list(f"`{name}`" for name in sorted(known))
    return f"add it to the pod's volumes: {listed}" if known else "add it to the pod's volumes"


def _volumes(pod: Pod, run: Run) -> set[str]:
    claims = items(run.spec, "volumeClaimTemplates") if run.kind in ("StatefulSet", "Workflow") else []
    for policy in items(run.spec, "volumeClaimPolicies") if run.kind == "JobSet" else []:
        claims = [*claims, *items(policy, "templates")]
    added = OF_MPI_OPERATOR if run.kind == "MPIJob" else frozenset()
    return {volume.name for volume in pod.volumes} | added | {text(mapping(one, "metadata"), "name") for one in claims}
