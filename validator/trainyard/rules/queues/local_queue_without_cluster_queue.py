"""The LocalQueue names a ClusterQueue that does not exist, so it admits no job.

The file of the LocalQueue defines a ClusterQueue that no LocalQueue names, and none of this name. The LocalQueue has
the condition `ClusterQueueDoesNotExist`, and each job in it stays suspended.

Write the name of a ClusterQueue.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.known_objects import is_known
from trainyard.document.lookup import text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Resource


@rule(
    code="QU014",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "github.com/kubernetes-sigs/kueue/pull/981: a LocalQueue with another name",
        "kueue.sigs.k8s.io/docs/concepts/local_queue: clusterQueue",
    ),
    needs=("LocalQueue",),
)
def local_queue_without_cluster_queue(resource: Resource, context: Context) -> Iterator[Problem]:
    """Report names that no ClusterQueue of the file has."""
    name = text(resource.tree, "spec", "clusterQueue")
    if resource.kind != "LocalQueue" or not name or "$" in name or is_known(context.project, "ClusterQueue", name):
        return
    beside = _by_file.of(context.project).get(id(resource.at.document.source), [])
    if beside:
        yield Problem(
            resource.at.child("spec", "clusterQueue"),
            f"there is no ClusterQueue `{name}`: LocalQueue `{resource.name}` admits nothing",
            f"the file defines {', '.join(f'`{one}`' for one in beside)}, which no LocalQueue names",
        )


def _find_by_file(project: Project) -> dict[int, list[str]]:
    """Returns the names of the ClusterQueues of each file that no LocalQueue names."""
    found: dict[int, list[str]] = {}
    used = {text(one.tree, "spec", "clusterQueue") for one in project.of_kind("LocalQueue")}
    for queue in project.of_kind("ClusterQueue"):
        if queue.name and queue.name not in used:
            found.setdefault(id(queue.at.document.source), []).append(queue.name)
    return found


_by_file: LastIndex[Project, dict[int, list[str]]] = LastIndex(_find_by_file)
