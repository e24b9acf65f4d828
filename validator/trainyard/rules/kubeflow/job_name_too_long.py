"""The operator derives names from the job's own, and one that is no DNS label is refused when the pods are to start.

Every kind here asks for a DNS-1035 name: lower case letters, digits and dashes, a letter first, 63 characters at
most. That holds for what is derived from it too. The training operator creates a Service `<job>-worker-<n-1>` for
each pod and passes a job whose Services cannot exist: its pods never find each other, and only the operator's log
says why. The mpi-operator and JobSet check the longest name that they will derive and refuse the object; a TrainJob
is admitted and its JobSet is not.

The name's room is therefore 63 less the role, the indexes and, for JobSet and TrainJob, the six characters that a pod
name ends with. With `generateName`, five characters more are gone. A name with a `${VARIABLE}` that a script is to fill
in is left alone.

Shorten the name, and spell it with lower case letters, digits and dashes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from validator.facts.kubeflow import WITH_SERVICES, is_mpi_operator, metadata_of
from validator.fields import items, mapping, text, whole
from validator.model import Run
from validator.rule import Problem, rule

LIMIT = 63
LABEL = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?$")
# What the API server puts behind `generateName`, and the Job controller behind a pod's name.
GENERATED = "x7k2p"


@rule(
    code="KF001",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubeflow/training-operator v1.9.3 pkg/webhooks/pytorch/pytorchjob_webhook.go: NameIsDNS1035Label; "
        "pkg/controller.v1/common/service.go: CreateNewService names a Service GenGeneralName(job, role, index)",
        "kubeflow/mpi-operator v0.8.0 pkg/apis/kubeflow/validation/validation.go: validateMPIJobName",
        "kubernetes-sigs/jobset v0.10.1 pkg/webhooks/jobset_webhook.go: GenJobName, GenPodName and IsDNS1035Label",
        "kubeflow/trainer v2.1.0 pkg/apis/trainer/v1alpha1/trainjob_types.go: rules on metadata.name",
    ),
)
def job_name_too_long(run: Run) -> Iterator[Problem]:
    """A job's name, or one derived from it, that is no DNS label."""
    if run.kind not in (*WITH_SERVICES, "TrainJob", "JobSet") and not is_mpi_operator(run):
        return
    generated = not text(metadata_of(run), "name")
    at = run.at.child("metadata", "generateName" if generated else "name")
    name = run.name + (GENERATED if generated and run.name else "")
    if not name or "$" in name:
        return
    if not LABEL.match(name):
        yield Problem(
            at,
            f"`{name}` is no DNS-1035 label, so the {run.kind} is refused",
            "begin with a lower case letter; then lower case letters, digits and dashes",
        )
        return
    longest = max(_derived(run, name), key=len)
    if len(longest) > LIMIT:
        yield Problem(
            at,
            f"the name `{longest}` that is derived from it has {len(longest)} characters, a DNS label {LIMIT} at most",
            f"shorten the name by {len(longest) - LIMIT} or more",
        )


def _derived(run: Run, name: str) -> Iterator[str]:
    yield name
    if run.kind == "JobSet":
        yield from _of_job_set(run, name)
    elif run.kind == "TrainJob":
        for role in run.roles:
            job = f"{name}-{role.name}-0"
            known = role.name == "node" and role.replicas is not None
            yield f"{job}-{_last(role.replicas)}-{GENERATED}" if known else job
    elif is_mpi_operator(run):
        worker = run.role("Worker")
        yield f"{name}-worker-{_last(worker.replicas if worker is not None else None)}"
    else:
        for role in run.roles:
            yield f"{name}-{role.name.lower()}-{_last(role.replicas)}"


def _of_job_set(run: Run, name: str) -> Iterator[str]:
    for job in items(run.spec, "replicatedJobs"):
        spec = mapping(job, "template", "spec")
        longest = f"{name}-{text(job, 'name')}-{_last(whole(job, 'replicas'))}"
        completions = whole(spec, "completions")
        if completions is not None and spec.get("completionMode") in (None, "Indexed"):
            longest += f"-{_last(completions)}-{GENERATED}"
        yield longest


def _last(count: int | None) -> int:
    return max((count if count is not None else 1) - 1, 0)
