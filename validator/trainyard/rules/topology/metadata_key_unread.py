"""A label or annotation stands where its controller does not look for it, so it has no effect.

Controllers read a key from one place: from labels or from annotations, of the object or of its pods. KAI reads the
queue from a label, and puts pods with an annotation of that name into the default queue. JobSet reads
`exclusive-topology` from its own metadata or from that of a replicated job's template, and not from the pods. The
cluster autoscaler reads `safe-to-evict` from pods, to which a controller copies the metadata of the pod template alone.

Kueue queues a job by the label of the job. On the pod template alone the label has no effect: the job starts at once,
without a quota.

The controller of a Volcano Job creates its PodGroup itself and replaces `scheduling.k8s.io/group-name` of the pods.

The rule ignores a key that stands in the right place as well.

Move the key to the place that the message names.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.jobs.workloads import is_volcano
from trainyard.analysis.objects.metadata import Written, written
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.kueue import QUEUE
from trainyard.facts.kubernetes.metadata_keys import BY_NAME, GROUP, NEEDS, QUEUED_AS_A_WHOLE, Key
from trainyard.model.run import Run, Workload


@rule(
    code="TP018",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "kai-scheduler/KAI-Scheduler pull 932; github.com/AI-Hypercomputer/xpk pull 1122",
        "kubernetes/autoscaler cluster-autoscaler/utils/drain/drain.go: PodSafeToEvictKey",
        "jobset.sigs.k8s.io/docs/concepts: exclusive placement; github.com/volcano-sh/volcano issue 3431",
    ),
    needs=(*NEEDS, GROUP),
)
def metadata_key_unread(run: Workload) -> Iterator[Problem]:
    """Report keys in a place that nothing reads."""
    if is_volcano(run):
        for one in written(run):
            if one.of_pod and one.name == GROUP:
                message = f"Volcano creates a PodGroup for the Job and sets `{GROUP}` itself: this one is not used"
                yield Problem(one.at.key(), message, "set `minAvailable` and the like in the Job")
    found = [one for one in written(run) if one.name in BY_NAME]
    for one in found:
        key = BY_NAME[one.name]
        wrong = _wrong(one, key, run)
        if wrong and not any(other.name == one.name and not _wrong(other, key, run) for other in found):
            yield Problem(one.at.key(), f"{key.reader} reads `{key.name}` from {wrong}", "move it there")


def _wrong(one: Written, key: Key, run: Run) -> str:
    """Returns the right place, empty if the key has it."""
    owner = "the pod template" if key.place == "pod" else f"the {run.kind}"
    if one.field != key.field:
        return f"the {key.field} of {owner}"
    if run.kind == "Pod":
        return ""
    is_whole = one.name == QUEUE and run.kind in QUEUED_AS_A_WHOLE and not is_volcano(run)
    if one.of_pod and (key.place == "object" or is_whole):
        return f"the {key.field} of {owner}"
    if key.place == "pod" and not one.of_pod and has_all_pods(run) and run.roles:
        return f"the {key.field} of the pod template"
    return ""
