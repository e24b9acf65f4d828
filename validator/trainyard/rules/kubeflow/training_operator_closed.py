"""The job needs the training operator, which upstream has closed.

The maintainers of Kubeflow closed the training operator, v1 of Kubeflow Trainer, and 1.9.4 of August 2026 is its last
release. Kueue has deprecated its kinds and no longer enables them by default since 0.19. The community distribution of
Kubeflow leaves the operator out since July 2026. What is installed goes on working, but new releases of Kubernetes,
Kueue and other components are not tested with it.

The rule speaks once, at the first job of all files, and only with `--pedantic`: the job itself has no fault. For a
target of Kubeflow Trainer 2, KF018 reports it too.

Plan the move to TrainJob. The page [From PyTorchJob to TrainJob](../tutorials/to-trainjob.md) has the dates, maps each
field, and names what a TrainJob cannot do, such as elastic runs.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.training_operator import jobs, others
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Project


@rule(
    code="KF040",
    severity="info",
    confidence="high",
    since="0.1.0",
    sources=(
        "github.com/kubeflow/trainer/issues/3517: the project of v1 is closed",
        "github.com/kubernetes-sigs/kueue/issues/12620 and pull request 12606: deprecated, off by default",
        "github.com/kubeflow/community-distribution/pull/3540: removed from the distribution",
    ),
)
def training_operator_closed(project: Project) -> Iterator[Problem]:
    """Report the first job of the training operator."""
    if found := jobs(project):
        yield Problem(
            found[0].at.child("kind"),
            f"only the training operator serves {found[0].kind}, and 1.9.4 is its last release{others(found)}",
            "plan the move: see `From PyTorchJob to TrainJob` in the documentation",
        )
