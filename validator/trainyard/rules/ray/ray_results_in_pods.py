"""Ray Train stores its results in a folder that each pod of the cluster has for itself.

Each worker writes its part of a checkpoint to `storage_path`, and the driver reads there what the workers report.
Several nodes need the same storage: with a local folder, a run ends with "checkpoint ... not found" or with the advice
to use a shared file system.

The rule applies to a RayJob with several workers, whose entrypoint has an option such as `--storage-path` with a folder
that no volume holds in the head or in a group of workers.

Mount a claim of ReadWriteMany at the folder in all pods, or write the path of a bucket.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.ray import Group, groups_of
from trainyard.document.lookup import integer, items, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource
from trainyard.startup import pattern

_OPTION = pattern(r"--?storage[-_.]path(?:=|\s+)[\"']?((?:/|~)[\w./~-]*)")
_HOME = "/home/ray"


@rule(
    code="RY056",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "docs.ray.io train/user-guides/persistent-storage: multi-node needs cloud storage or a shared file system",
        "github.com/ray-project/kuberay issue 1753, github.com/ray-project/ray issue 37177",
    ),
    needs=("storage",),
)
def ray_results_in_pods(resource: Resource) -> Iterator[Problem]:
    """Report results of several workers in folders of their own."""
    found = _OPTION.search(text(resource.tree, "spec", "entrypoint")) if resource.kind == "RayJob" else None
    groups = groups_of(resource) if found is not None else ()
    workers = sum(integer(group.tree, "replicas") or 0 for group in groups if not group.is_head)
    if found is None or workers < 2:
        return
    path = found[1].replace("~", _HOME, 1)
    alone = next((group for group in groups if not _mounts(group, path)), None)
    if alone is not None:
        yield Problem(
            resource.at.child("spec", "entrypoint"),
            f"`{found[1]}` is on no volume in {alone.title}: the workers and the driver have no shared storage",
            "mount a claim of ReadWriteMany there in all pods, or write the path of a bucket",
            related=((alone.container_at, "the container without the volume"),),
        )


def _mounts(group: Group, path: str) -> bool:
    """True if a volume holds a folder in the container of Ray."""
    mounts = [text(mapping(mount), "mountPath").rstrip("/") for mount in items(group.container, "volumeMounts")]
    return any(mount and f"{path.rstrip('/')}/".startswith(f"{mount}/") for mount in mounts)
