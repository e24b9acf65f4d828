"""Kueue manages this job although it names no queue, and its namespace has no LocalQueue named `default`.

With `manageJobsWithoutQueueName: true`, Kueue suspends every job of its kinds in the namespaces of
`managedJobsNamespaceSelector`, and gates every pod. A job without the label `kueue.x-k8s.io/queue-name` is given to the
LocalQueue `default` of its namespace. If there is none, the job stays suspended, and a pod `SchedulingGated`.

The rule applies if the files contain the Configuration and the namespace, with its labels.

Add the label with the name of a LocalQueue, or create a LocalQueue named `default`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.jobs.kueue_configurations import configuration_of, framework_of
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.kueue import QUEUE
from trainyard.model.run import Project, Run


@rule(
    code="QU006",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "github.com/kubernetes-sigs/kueue/issues/7929: a pod without a queue name in a managed namespace",
        "kubernetes-sigs/kueue v0.19.2 apis/config/v1beta2/configuration_types.go: ManageJobsWithoutQueueName",
        "kubernetes-sigs/kueue v0.19.2 pkg/controller/jobframework/defaults.go: ApplyDefaultLocalQueue",
    ),
    needs=("manageJobsWithoutQueueName",),
)
def kueue_waits_for_default_queue(project: Project) -> Iterator[Problem]:
    """Report managed jobs that name no queue."""
    known = configuration_of(project)
    if known is None or known.tree.get("manageJobsWithoutQueueName") is not True:
        return
    selector = mapping(known.tree, "managedJobsNamespaceSelector")
    defaults = {queue.namespace for queue in project.of_kind("LocalQueue") if queue.name == "default"}
    for run in project.runs:
        is_managed = QUEUE not in run.labels and framework_of(run) in known.frameworks
        if not is_managed or defaults & {"", run.namespace} or not _selects(selector, run, project):
            continue
        yield Problem(
            run.at.child("metadata", "labels", QUEUE),
            f"Kueue manages {run.kind} {run.name}, which names no queue, and namespace `{run.namespace}` has no "
            "LocalQueue `default`: it is never admitted",
            f"add the label `{QUEUE}`, or a LocalQueue named default",
            related=((known.at.child("manageJobsWithoutQueueName"), "the configuration of Kueue"),),
        )


def _selects(selector: dict[str, Any], run: Run, project: Project) -> bool:
    """True if Kueue certainly manages the namespace of a run."""
    namespace = project.named("Namespace", run.namespace, "") if run.namespace else None
    wanted = mapping(selector, "matchLabels")
    if namespace is None or not wanted or selector.get("matchExpressions"):
        return False
    labels = mapping(namespace.tree, "metadata", "labels")
    return all(labels.get(key) == value for key, value in wanted.items())
