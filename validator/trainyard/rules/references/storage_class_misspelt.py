"""The claim names a storage class that no file defines, and a defined one has almost the same name.

A claim of a class that does not exist stays Pending: `storageclass.storage.k8s.io "nfs-clinet" not found`. Its pods
wait for it, with the GPUs of the others held.

The rule applies if the class that is meant is in the same file or folder, and no claim uses it.

Write the same name in both places.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.folders import SAME_FOLDER, distance
from trainyard.analysis.objects.known_objects import everywhere, is_known
from trainyard.document.document import SetValue
from trainyard.document.lookup import text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Resource

# Names of classes are short, and those of a family differ in a word.
RATIO = 0.85


@rule(
    code="RF029",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes v1.34.4 pkg/controller/volume/persistentvolume/pv_controller.go: provisionClaimOperation",
        "github.com/easzlab/kubeasz issue 827",
    ),
    fix="unsafe",
    needs=("StorageClass",),
)
def storage_class_misspelt(resource: Resource, context: Context) -> Iterator[Problem]:
    """Report classes that differ slightly from one that no claim uses."""
    name = text(resource.tree, "spec", "storageClassName")
    if resource.kind != "PersistentVolumeClaim" or not name or is_known(context.project, "StorageClass", name):
        return
    near = closest_match(name, _unused.of(context.project), RATIO)
    known = everywhere(context.project, "StorageClass", near) if near is not None else []
    if near is not None and len(known) == 1 and distance(known[0].at, resource.at) <= SAME_FOLDER:
        at = resource.at.child("spec", "storageClassName")
        yield Problem(
            at,
            f"no file defines the StorageClass `{name}`, and no claim uses the StorageClass `{near}`",
            f"did you mean `{near}`?",
            (SetValue(at, near),),
            ((known[0].at.child("metadata", "name"), "the unused one"),),
        )


def _find_unused(project: Project) -> frozenset[str]:
    used = {text(claim.tree, "spec", "storageClassName") for claim in project.of_kind("PersistentVolumeClaim")}
    return frozenset(one.name for one in project.of_kind("StorageClass") if one.name not in used)


_unused: LastIndex[Project, frozenset[str]] = LastIndex(_find_unused)
