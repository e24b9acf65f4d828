"""The job names a queue, but Kueue is not configured for jobs of its kind.

`integrations.frameworks` in the Configuration of Kueue lists the kinds that it manages. The label
`kueue.x-k8s.io/queue-name` on an object of another kind has no effect on the object itself. With `batch/job` in the
list, Kueue may suspend the Jobs that a JobSet creates, which the JobSet does not expect: it deletes and creates them
again.

The rule applies if the files contain one Configuration of Kueue. Kinds of `externalFrameworks` are ignored.

Add the kind to `integrations.frameworks`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import metadata_of
from trainyard.analysis.jobs.kueue_configurations import configuration_of, framework_of
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.kueue import QUEUE
from trainyard.model.run import Project


@rule(
    code="QU005",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "github.com/kubernetes-sigs/kueue/issues/877: a JobSet with a queue and without its integration",
        "kubernetes-sigs/kueue v0.19.2 apis/config/v1beta2/configuration_types.go: Integrations.Frameworks",
    ),
    needs=("config.kueue.x-k8s.io",),
)
def kueue_does_not_manage_kind(project: Project) -> Iterator[Problem]:
    """Report queued jobs of kinds that Kueue does not manage."""
    known = configuration_of(project)
    # An empty list is that of the defaults.
    for run in project.runs if known is not None and known.frameworks else ():
        # The label may be that of an AppWrapper around the job.
        framework = framework_of(run) if QUEUE in mapping(metadata_of(run), "labels") else None
        if known is None or framework is None or framework in known.frameworks:
            continue
        yield Problem(
            run.at.child("metadata", "labels", QUEUE),
            f"Kueue is not configured for {run.kind}: the Configuration does not list `{framework}`",
            f"add {framework} to integrations.frameworks",
            related=((known.at.child("integrations", "frameworks"), "the kinds that Kueue manages"),),
        )
