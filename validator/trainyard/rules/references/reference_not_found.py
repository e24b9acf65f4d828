"""No file defines the object that a pod or a queue refers to, although the files define others of its kind.

The cluster may have the object: a Secret is often created by hand. If it does not, the pod stays in
`ContainerCreating`, `CreateContainerConfigError` or `Pending`, and a job stays suspended in Kueue.

The rule looks at ConfigMaps, Secrets, claims, service accounts, priority classes, runtime classes, LocalQueues, the
ClusterQueue of a LocalQueue, the ResourceFlavors of a ClusterQueue and the RayCluster of a RayJob. It applies if the
files define at least one object of the kind, and is off by default.

Define the object, or add its file to the command line. Suppress the finding if the cluster has the object.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from trainyard.analysis.jobs.queues import flavors_of, unnamed_flavors
from trainyard.analysis.objects.created_by_hand import is_created_by_hand
from trainyard.analysis.objects.known_objects import has_kind, is_known, names
from trainyard.analysis.objects.references import Reference, references
from trainyard.document.lookup import text
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.model.run import Project

# A report ends at as many findings of a rule in a file, and a comparison of names takes longer than all else.
MOST = 200
# Classes and accounts that every cluster has.
BUILT_IN = frozenset(
    (
        *(("ServiceAccount", "default"), ("PriorityClass", "system-node-critical")),
        ("PriorityClass", "system-cluster-critical"),
    )
)


@rule(
    code="RF003",
    severity="info",
    confidence="medium",
    since="0.1.0",
    sources=(
        "kubernetes.io/docs/concepts/configuration/configmap and /secret: pods wait for the objects that they refer to",
        "kueue.sigs.k8s.io/docs/concepts/cluster_queue: inactive without its flavors (FlavorNotFound)",
    ),
)
def reference_not_found(project: Project) -> Iterator[Problem]:
    """References to objects that no file defines."""
    done: set[tuple[str, str, str]] = set()
    missing: Counter[str] = Counter()
    for one in (*_of_runs(project), *_of_queues(project)):
        file = one.at.document.source.name
        asked = not one.optional and has_kind(project, one.kind) and (one.kind, one.name) not in BUILT_IN
        if not asked or (one.kind, one.name, file) in done:
            continue
        done.add((one.kind, one.name, file))
        if not is_known(project, one.kind, one.name) and not is_created_by_hand(one.at, one.name):
            missing[file] += 1
            near = closest_match(one.name, names(project, one.kind), 0.6) if missing[file] <= MOST else None
            help_ = f"did you mean `{near}`?" if near is not None else "define it, unless the cluster has it"
            yield Problem(one.at, f"no file defines the {one.kind} `{one.name}`", help_)


def _of_runs(project: Project) -> Iterator[Reference]:
    for run in project.runs:
        yield from references(run)


def _of_queues(project: Project) -> Iterator[Reference]:
    for queue in project.of_kind("LocalQueue"):
        yield Reference(
            "ClusterQueue", text(queue.tree, "spec", "clusterQueue"), queue.at.child("spec", "clusterQueue")
        )
    for queue in project.of_kind("ClusterQueue"):
        # Another rule reports the flavors of a queue whose file defines them under other names.
        for name, at in flavors_of(queue) if not unnamed_flavors(queue, project) else ():
            yield Reference("ResourceFlavor", name, at)
