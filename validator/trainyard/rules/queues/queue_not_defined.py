"""The job names a queue that is none, although the files define its queues: Kueue or Volcano never starts it.

The label `kueue.x-k8s.io/queue-name` names a LocalQueue, in the namespace of the job. With the name of the
ClusterQueue behind it, the job stays suspended: its Workload says "LocalQueue ... doesn't exist". Volcano refuses a Job
whose `queue` does not exist: "unable to find job queue".

The rule looks at files in one folder. It reports the name of a ClusterQueue that no LocalQueue has, where a LocalQueue
leads to it. It also reports a queue that no file defines, where a file defines one that no job names: a LocalQueue in
the namespace of the job, or a queue of Volcano. `default` is a queue of every Volcano. The webhook does not look at the
template of Volcano's CronJob: its jobs are refused when their time comes.

Write the name of a queue that the files define.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from trainyard.analysis.jobs.workloads import is_volcano
from trainyard.analysis.objects.alike import few
from trainyard.analysis.objects.folders import SAME_FOLDER, distance
from trainyard.analysis.objects.known_objects import everywhere, is_known
from trainyard.document.document import Place
from trainyard.document.lookup import mapping, text
from trainyard.document.placeholders import has_parameter
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.kueue import QUEUE
from trainyard.facts.jobs.workloads import VOLCANO, group_of
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Resource, Run, Workload

_BUILT_IN = ("default", "root")
# Where a CronJob of Volcano has the spec of its jobs.
_TEMPLATE = ("jobTemplate", "spec")


@rule(
    code="QU020",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kueue.sigs.k8s.io/docs/concepts/local_queue: jobs name a LocalQueue of their namespace",
        "github.com/openshift/openshift-docs pull 109812",
        "kubernetes-sigs/kueue v0.19.2 pkg/scheduler/scheduler.go and pkg/controller/core: LocalQueue doesn't exist",
        "volcano-sh/volcano v1.15.1 pkg/webhooks/admission/jobs/validate/admit_job.go: unable to find job queue",
        "volcano-sh/volcano ed72c7c pkg/webhooks/admission/cronjobs/validate/admit_cronjob.go; issue 5669",
    ),
    needs=("ClusterQueue", "LocalQueue", "scheduling.volcano.sh"),
)
def queue_not_defined(run: Workload, context: Context) -> Iterator[Problem]:
    """Report names of queues that the files show to be wrong."""
    if run.kind == "CronJob" and group_of(run.api_version) == VOLCANO:
        at = run.at.child("spec", *_TEMPLATE)
        yield from _of_volcano(run, at, mapping(run.spec, *_TEMPLATE), context.project)
    if not run.is_job:
        return
    if is_volcano(run):
        yield from _of_volcano(run, run.at.child("spec"), run.spec, context.project)
    name = run.labels.get(QUEUE)
    if not isinstance(name, str) or is_known(context.project, "LocalQueue", name):
        return
    queues = [one for one in everywhere(context.project, "ClusterQueue", name) if _is_near(one.at, run)]
    ways = [one for one in few(_ways.of(context.project).get(name, ())) if _is_near(one.at, run)]
    at = run.at.child("metadata", "labels", QUEUE)
    if queues and ways:
        yield Problem(
            at,
            f"`{name}` is a ClusterQueue and no LocalQueue: Kueue never admits {run.kind} {run.name}",
            f"write the name of its LocalQueue, `{ways[0].name}`",
            related=((ways[0].at.child("metadata", "name"), "the LocalQueue"),),
        )
    elif not queues and name not in ("", _BUILT_IN[0]) and not has_parameter(name) and "$" not in name:
        yield from _unused(run, name, context.project)


def _unused(run: Run, name: str, project: Project) -> Iterator[Problem]:
    """Yields a queue that no file defines, beside the only one of the namespace, which no job names."""
    own = [one for one in few(_of_namespace.of(project).get(run.namespace, ())) if _is_near(one.at, run)]
    if len(own) != 1 or own[0].name in _labelled.of(project) or has_parameter(own[0].name):
        return
    # `team-a` and `team-b` are two queues.
    if len(name) != len(own[0].name):
        yield Problem(
            run.at.child("metadata", "labels", QUEUE),
            f"no file defines the LocalQueue `{name}`: Kueue does not admit {run.kind} {run.name} without it",
            f"the files define `{own[0].name}`, which no job names",
            related=((own[0].at.child("metadata", "name"), "the unused queue"),),
        )


def _of_volcano(run: Run, at: Place, spec: dict[str, Any], project: Project) -> Iterator[Problem]:
    name = text(spec, "queue")
    if not name or name in _BUILT_IN or has_parameter(name) or "$" in name:
        return
    queues = _volcano_queues.of(project)
    if name in queues:
        return
    named = _named.of(project)
    free = next((one for other, one in queues.items() if other not in named and _is_near(one.at, run)), None)
    if free is not None:
        yield Problem(
            at.child("queue"),
            f"no file defines the queue `{name}`: Volcano refuses the Job, unless the cluster has it",
            f"the files define `{free.name}`, which no job names",
            related=((free.at.child("metadata", "name"), "the unused queue"),),
        )


def _is_near(at: Place, run: Run) -> bool:
    return distance(at, run.at) <= SAME_FOLDER


def _local_queues(key: Callable[[Resource], str]) -> LastIndex[Project, dict[str, list[Resource]]]:
    """Returns an index of the LocalQueues by a key."""

    def find(project: Project) -> dict[str, list[Resource]]:
        found: dict[str, list[Resource]] = {}
        for one in project.of_kind("LocalQueue"):
            found.setdefault(key(one), []).append(one)
        return found

    return LastIndex(find)


def _find_volcano_queues(project: Project) -> dict[str, Resource]:
    queues = (one for one in project.of_kind("Queue") if group_of(one.api_version) == "scheduling.volcano.sh")
    return {one.name: one for one in queues}


def _find_named(project: Project) -> frozenset[str]:
    """Returns the queues that Volcano's jobs name, and those that are parents."""
    known = [one for one in project.of_kind("Job", "CronJob") if group_of(one.api_version) == VOLCANO]
    jobs = (text(one.tree, "spec", *path, "queue") for one in known for path in ((), _TEMPLATE))
    parents = (text(one.tree, "spec", "parent") for one in project.of_kind("Queue"))
    return frozenset((*jobs, *parents, *_BUILT_IN))


def _find_labelled(project: Project) -> frozenset[str]:
    """Returns the queues that labels of objects and of their pods name."""
    objects = (mapping(one.tree, "metadata", "labels").get(QUEUE) for one in project.resources)
    pods = (role.pod.labels.get(QUEUE) for run in project.runs for role in run.roles)
    return frozenset(str(name) for name in (*objects, *pods) if name)


_labelled: LastIndex[Project, frozenset[str]] = LastIndex(_find_labelled)
_named: LastIndex[Project, frozenset[str]] = LastIndex(_find_named)
_ways = _local_queues(lambda one: text(one.tree, "spec", "clusterQueue"))
_of_namespace = _local_queues(lambda one: one.namespace)
_volcano_queues: LastIndex[Project, dict[str, Resource]] = LastIndex(_find_volcano_queues)
