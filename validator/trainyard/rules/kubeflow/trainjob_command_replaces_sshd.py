"""The command of a TrainJob also replaces the SSH server of its MPI workers, so the launcher reaches none of them.

Kubeflow Trainer copies `command` and `args` of a TrainJob into each replicated job with the label
`trainer.kubeflow.org/trainjob-ancestor-step: trainer`. The label on the workers lets a TrainJob change their image. But
a worker of an MPI runtime runs `sshd`, and runs the TrainJob's words in its place.

Set the image alone, or remove the label from the workers and set their image in the runtime.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.kubeflow import ANCESTOR
from trainyard.model.run import Run


@rule(
    code="KF050",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubeflow/trainer v2.3.0 pkg/runtime/framework/plugins/jobset/builder.go: Builder.Trainer",
        "github.com/kubeflow/trainer issue 4030: both jobs with the label get the command",
    ),
    needs=(ANCESTOR,),
)
def trainjob_command_replaces_sshd(run: Run) -> Iterator[Problem]:
    """Report commands for workers that have to run an SSH server."""
    if run.kind != "TrainJob" or run.runtime is None or not mapping(run.runtime, "mlPolicy", "mpi"):
        return
    field = next((one for one in ("command", "args") if items(run.spec, "trainer", one)), None)
    if field is None:
        return
    for job in items(run.runtime, "template", "spec", "replicatedJobs"):
        step = text(job, "template", "metadata", "labels", ANCESTOR)
        containers = items(job, "template", "spec", "template", "spec", "containers")
        if step == "trainer" and any(text(one, "name") == "node" and _runs_sshd(mapping(one)) for one in containers):
            yield Problem(
                run.at.child("spec", "trainer", field),
                f"`{field}` also replaces sshd in the runtime's job `{text(job, 'name')}`: it has the trainer's label",
                "set the image alone, or remove the label from that job of the runtime",
            )
            return


def _runs_sshd(container: dict[str, object]) -> bool:
    words = [str(word) for field in ("command", "args") for word in items(container, field)]
    return any("sshd" in word.split()[0] or "/sshd " in f"{word} " for word in words if word.strip())
