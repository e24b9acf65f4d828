"""The job name, or a name that the operator derives from it, is not a valid DNS label and is rejected.

Every kind here needs a DNS-1035 name: lower case letters, digits and dashes, a letter first, at most 63 characters.
The same holds for derived names. The training operator creates a Service `<job>-worker-<n-1>` for each pod and accepts
a job whose Services cannot exist: its pods never find each other, and only the operator's log shows the cause. The
mpi-operator and JobSet check the longest derived name and reject the object; a TrainJob is admitted and its JobSet is
rejected.

The pods of a Volcano Job are named `<job>-<task>-<index>`, those of a LeaderWorkerSet `<name>-<group>-<worker>`.
KubeRay accepts at most 53 characters for a RayCluster, and 47 for a RayJob or RayService.

The address of a JobSet's coordinator, `<name>-<job>-<index>-<pod>.<subdomain>`, is the value of a label as well, which
has at most 63 characters. The subdomain is the name of the JobSet unless `network.subdomain` is shorter.

The name can therefore have 63 characters less the role, the indexes and, for JobSet and TrainJob, the six characters
at the end of a pod name. `generateName` takes five more. The rule skips a name with a `${VARIABLE}` that a script
fills in, a word such as `JOB_NAME` or `%ID%` that a program replaces, and a name that ends with a dash in a folder
`dags` of Airflow, whose programs add the rest.

Shorten the name, and use only lower case letters, digits and dashes.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import is_mpi_operator, metadata_of
from trainyard.analysis.jobs.workloads import is_volcano, plugins
from trainyard.document.lookup import integer, items, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.kubeflow import WITH_SERVICES
from trainyard.facts.jobs.workloads import RAY_NAMES
from trainyard.model.run import Run
from trainyard.startup import pattern

LIMIT = 63
NAMED = ("TrainJob", "JobSet", "LeaderWorkerSet", *RAY_NAMES)
LABEL = pattern(r"[a-z]([-a-z0-9]*[a-z0-9])?$")
# A word that a program replaces: `JOB_NAME` as the whole name, `%ID%` or `@ID@` in a part of it.
_PLACEHOLDER = pattern(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$|[^%]*%\w+%|[^@]*@\w+@")
# The suffix that the API server appends to `generateName`, and the Job controller to a pod's name.
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
        "github.com/kubernetes-sigs/jobset/issues/1056: the address of the coordinator is the value of a label",
        "kubeflow/trainer v2.1.0 pkg/apis/trainer/v1alpha1/trainjob_types.go: rules on metadata.name",
        "volcano-sh/volcano v1.15.1 pkg/webhooks/admission/jobs/validate/admit_job.go: validateK8sPodNameLength",
        "kubernetes-sigs/lws v0.10.0 pkg/webhooks/leaderworkerset_webhook.go: NameIsDNS1035Label",
        "ray-project/kuberay v1.7.0 ray-operator/controllers/ray/utils/validation.go: ValidateRayClusterMetadata",
    ),
)
def job_name_too_long(run: Run) -> Iterator[Problem]:
    """Report a job name, or a name derived from it, that is not a DNS label."""
    if run.kind not in (*WITH_SERVICES, *NAMED) and not is_mpi_operator(run) and not is_volcano(run):
        return
    generated = not text(metadata_of(run), "name")
    at = run.at.child("metadata", "generateName" if generated else "name")
    name = run.name + (GENERATED if generated and run.name else "")
    if not name or "$" in name or "{{" in name or _PLACEHOLDER.match(name) or _is_completed(run, name):
        return
    if run.kind in RAY_NAMES and len(name) > RAY_NAMES[run.kind]:
        yield Problem(
            at,
            f"`{name}` has {len(name)} characters; KubeRay accepts at most {RAY_NAMES[run.kind]} for a {run.kind}",
            f"shorten the name by {len(name) - RAY_NAMES[run.kind]} or more",
        )
        return
    # Without the Service of its plugin `svc`, Volcano needs only names of pods.
    if not LABEL.match(name) and not (is_volcano(run) and "svc" not in plugins(run)):
        yield Problem(
            at,
            f"`{name}` is not a valid {run.kind} name (DNS-1035 label)",
            "write `generateName`, or end with a letter or a digit"
            if LABEL.match(name.rstrip("-"))
            else "start with a letter, and use only lower case letters, digits and dashes",
        )
        return
    longest = max((*_derived(run, name), _coordinator(run, name)), key=len)
    if len(longest) > LIMIT:
        # The address of a coordinator contains the name twice, unless the subdomain is another.
        times, place = (2, " or set network.subdomain") if longest.endswith(f".{name}") else (1, "")
        what = "the value of a label" if "." in longest else "a DNS label"
        yield Problem(
            at,
            f"the derived name `{longest}` has {len(longest)} characters; {what} has at most {LIMIT}",
            f"shorten the name by {-((LIMIT - len(longest)) // times)} or more{place and f',{place}'}",
        )


def _is_completed(run: Run, name: str) -> bool:
    """True for the beginning of a name in a file that a DAG of Airflow reads."""
    return name.endswith("-") and "dags" in run.at.document.source.name.replace("\\", "/").split("/")[:-1]


def _derived(run: Run, name: str) -> Iterator[str]:
    yield name
    if run.kind == "JobSet":
        yield from _of_job_set(run, name)
    elif run.kind == "TrainJob":
        for role in run.roles:
            job = f"{name}-{role.name}-0"
            known = role.name == "node" and role.replicas is not None
            yield f"{job}-{_last(role.replicas)}-{GENERATED}" if known else job
    elif run.kind == "LeaderWorkerSet":
        size = integer(run.spec, "leaderWorkerTemplate", "size")
        yield f"{name}-{run.groups - 1}" + (f"-{size - 1}" if size is not None and size > 1 else "")
    elif run.kind in RAY_NAMES:
        return
    elif is_mpi_operator(run):
        worker = run.role("Worker")
        yield f"{name}-worker-{_last(worker.replicas if worker is not None else None)}"
    else:
        for role in run.roles:
            yield f"{name}-{role.name.lower()}-{_last(role.replicas)}"


def _of_job_set(run: Run, name: str) -> Iterator[str]:
    for job in items(run.spec, "replicatedJobs"):
        spec = mapping(job, "template", "spec")
        longest = f"{name}-{text(job, 'name')}-{_last(integer(job, 'replicas'))}"
        completions = integer(spec, "completions")
        if completions is not None and spec.get("completionMode") in (None, "Indexed"):
            longest += f"-{_last(completions)}-{GENERATED}"
        yield longest


def _coordinator(run: Run, name: str) -> str:
    """Returns the address of the coordinator, which JobSet also writes into a label; empty if there is none."""
    given = mapping(run.spec, "coordinator") if run.kind == "JobSet" else {}
    job = text(given, "replicatedJob")
    if not job:
        return ""
    subdomain = text(run.spec, "network", "subdomain") or name
    return f"{name}-{job}-{integer(given, 'jobIndex') or 0}-{integer(given, 'podIndex') or 0}.{subdomain}"


def _last(count: int | None) -> int:
    return max((count if count is not None else 1) - 1, 0)
