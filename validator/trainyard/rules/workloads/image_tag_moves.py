"""The pods of a run may have different images, because the tag names another image over time.

`latest` and an image without a tag name what was pushed last. The kubelet pulls such an image again at each start of a
pod. A pod that is replaced, or that joins later, then trains with other code or another NCCL than its peers, and a run
that resumes reads its checkpoints with a program that did not write them. With `imagePullPolicy: IfNotPresent`, each
node keeps what it pulled first. Nobody can tell later which image trained the model.

Write the tag of a release, or the digest: `pretrain@sha256:...`. `docker buildx imagetools inspect IMAGE` shows it.

The rule stays behind `--pedantic`, because an image that nobody pushes does not move. It reports jobs of several pods,
and jobs of one pod whose option for checkpoints names a folder on a claim. It ignores `imagePullPolicy: Never`, helpers
beside the program, and images that a kustomization sets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.analysis.objects.replaced_images import is_replaced
from trainyard.analysis.pods.mounts import mount_of
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.images import pull_policy
from trainyard.facts.programs.checkpoints import NAMES
from trainyard.model.run import Container, Pod, Run

# Without capitals and brackets, which stand for a name that is written later.
_REFERENCE = re.compile(r"[a-z0-9][a-z0-9._:/-]*")


@rule(
    code="WL022",
    severity="warning",
    confidence="medium",
    since="0.4.0",
    sources=(
        "kubernetes v1.34.4 pkg/apis/core/v1/defaults.go: SetDefaults_Container, Always for latest and for no tag",
        "Kubernetes documentation, Images: avoid the tag latest, it is harder to track which version runs",
        "kubernetes-sigs/kustomize api/types/image.go: name, newName, newTag, digest",
    ),
)
def image_tag_moves(run: Run, context: Context) -> Iterator[Problem]:
    """Report images of training pods whose tag names another image over time."""
    if not run.is_job:
        return
    several = run.nodes is not None and run.nodes > 1
    for role in run.training_roles:
        container = role.container
        if container is None or not _moves(container) or not (several or _resumes(role.pod, container)):
            continue
        image = container.image or ""
        if is_replaced(image, context.project):
            continue
        danger = "pods of a run may train with different images" if several else "a resumed run may have another image"
        yield Problem(
            container.at.child("image"),
            f"{danger}: `{image}` names the image that was pushed last",
            "write the tag of a release, or the digest `@sha256:...`",
        )


def _moves(container: Container) -> bool:
    image = container.image or ""
    is_pulled = container.tree.get("imagePullPolicy") != "Never"
    return is_pulled and _REFERENCE.fullmatch(image) is not None and pull_policy(image) == "Always"


def _resumes(pod: Pod, container: Container) -> bool:
    """True if an option for checkpoints names a folder on a claim."""
    for command in container.commands:
        for name in command.given(NAMES):
            mount = mount_of(container, command.option(name) or "")
            volume = pod.volume(mount.volume) if mount is not None else None
            if volume is not None and volume.kind == "persistentVolumeClaim":
                return True
    return False
