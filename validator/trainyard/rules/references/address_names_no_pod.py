"""The address of the rendezvous names no pod of the job, so every process waits for it until its timeout.

A pod has the name `<hostname>.<subdomain>`. For an Indexed Job it is `<job>-<index>` under the `subdomain` of its
template, for a StatefulSet `<set>-<index>` under its `serviceName`, for a JobSet `<jobset>-<replicatedJob>-<job>-<pod>`
under `network.subdomain` or the JobSet's own name. A name with another index, subdomain or namespace does not resolve.
The pods of a Job that is not Indexed have random names. A name of a Kubeflow job (`<job>-master-0`, `<job>-worker-0`)
leads to a pod of that job only: after the job is renamed or copied, the old name remains. A pod of a Volcano Job is
`<job>-<task>-<index>.<job>`, with the plugin `svc`: no other one creates the Service, except those for frameworks,
which bring it. The pods of a JobSet with `enableDNSHostnames: false` have no names.

A JobSet or a Volcano Job that is renamed or copied leaves such names behind, too, and so does one of its parts.

The rule looks at `MASTER_ADDR`, `--master-addr`, `--rdzv-endpoint` and `mpirun --host` with a literal name that begins
like the pods of the job, or like those of a Kubeflow job that is not in the files. It ignores variables that the
operator sets itself.

Write the name of the first pod.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import metadata_of
from trainyard.analysis.jobs.pod_names import host_count, subdomain
from trainyard.analysis.jobs.workloads import is_volcano, plugins
from trainyard.analysis.launchers.torchrun import operator_variables, torchrun_commands
from trainyard.analysis.objects.known_objects import is_known
from trainyard.document.document import Place
from trainyard.document.lookup import text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.kubeflow import RUNTIMES, WITH_SERVICES
from trainyard.facts.programs.launchers import MPI_LAUNCHERS
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Container, Project, Role, Run
from trainyard.startup import pattern

OPTIONS = ("--rdzv-endpoint", "--master-addr")
UNNAMED = "the pods of a Job have such names only with `completionMode: Indexed`"
HOSTS = ("--host", "-host", "-H")
VARIABLES = ("MASTER_ADDR", "PET_MASTER_ADDR", "PET_RDZV_ENDPOINT", "COORDINATOR_ADDRESS")
KUBEFLOW = pattern(r"([a-z0-9][a-z0-9-]*)-(?:master|worker|chief|launcher)-[0-9]{1,4}$")
OF_JOBSET = pattern(r"([a-z0-9][a-z0-9-]*)-([0-9]{1,4}-[0-9]{1,6})$")
OF_VOLCANO = pattern(r"([a-z0-9][a-z0-9-]*)-([0-9]{1,6})$")
HOST = pattern(r"[a-z0-9][a-z0-9.-]*$")


@rule(
    code="RF014",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes.io/docs/concepts/workloads/controllers/job: hostnames of Indexed Jobs",
        "kubernetes-sigs/jobset v0.10.1 api/jobset/v1alpha2/jobset_types.go: Network.Subdomain, EnableDNSHostnames",
        "kubeflow/training-operator v1.9.3 pkg/controller.v1/common/service.go: CreateNewService",
        "volcano-sh/volcano v1.15.1 pkg/controllers/job/plugins/svc/svc.go: hostname and subdomain of the pods",
    ),
    needs=(
        "mpi",
        "rdzv_endpoint",
        "rdzv-endpoint",
        "RDZV_ENDPOINT",
        "master_addr",
        "master-addr",
        "MASTER_ADDR",
        "COORDINATOR_ADDRESS",
    ),
)
def address_names_no_pod(role: Role, context: Context) -> Iterator[Problem]:
    """Addresses that no pod of the job has."""
    run = context.run
    if run is None or role.container is None or run.kind in (*RUNTIMES, "TrainJob"):
        return
    for value, at in dict(_addresses(role.container, run)).items():
        host, _, rest = value.partition(":")[0].partition(".")
        if not HOST.match(value.partition(":")[0]):
            continue
        found = _fault(run, role, host, rest, context.project)
        if found is not None:
            reason, help_ = found
            yield Problem(at, f"`{value}` is not a pod of {run.kind} {run.name}: {reason}", help_)


def _addresses(container: Container, run: Run) -> Iterator[tuple[str, Place]]:
    for launch in torchrun_commands(container):
        for option in OPTIONS:
            found = launch.option_at(option)
            if found is not None:
                yield found
    for command in container.commands:
        found = command.option_at(*HOSTS) if command.program in MPI_LAUNCHERS else None
        if found is not None:
            yield from ((host, found[1]) for host in found[0].split(","))
    for setting in container.settings:
        # The operator's values win over those of the pod template.
        if setting.name in VARIABLES and setting.value and setting.name not in operator_variables(run):
            yield setting.value, setting.at


def _fault(run: Run, role: Role, host: str, rest: str, project: Project) -> tuple[str, str] | None:
    """The reason why a name does not resolve, and the remedy; None if it may resolve."""
    if run.kind in WITH_SERVICES:
        return _of_other_job(run, host, rest, project)
    if renamed := _renamed(run, host, rest, project):
        return renamed
    if is_volcano(run):
        return _without_service(run, host, rest, project)
    if run.kind not in ("Job", "JobSet", "StatefulSet") or not host.startswith(f"{run.name}-"):
        return None
    below = subdomain(run, role)
    found = _unnamed(run, role, host, below)
    if found is not None:
        return found
    if run.kind == "Job" and "hostname" in role.pod.tree:
        return None
    wrong = host_count(run, host)
    return (wrong[0], "use the first pod") if wrong is not None else _in_other_domain(run, host, below, rest, project)


def _in_other_domain(run: Run, host: str, below: str, rest: str, project: Project) -> tuple[str, str] | None:
    """Returns the fault of the name of a pod with another subdomain or namespace."""
    service, _, namespace = rest.partition(".")
    # A Service of its own may lead to one pod.
    if is_known(project, "Service", host) or namespace.partition(".")[0] == "svc":
        return None
    if below and service and service != below:
        return f"the subdomain of the pods is `{below}`", f"write `{host}.{below}`"
    namespace = namespace.partition(".")[0]
    if namespace and run.namespace and namespace != run.namespace and namespace != "svc":
        return f"the pods are in namespace `{run.namespace}`", "leave the namespace out, or correct it"
    return None


def _renamed(run: Run, host: str, rest: str, project: Project) -> tuple[str, str] | None:
    """Returns the fault of a name with another job or part than the run has, in the domain of that job."""
    match = {"JobSet": OF_JOBSET, "Job": OF_VOLCANO if is_volcano(run) else None}.get(run.kind)
    found = match.match(host) if match is not None else None
    if found is None or not run.name:
        return None
    last = f"-{found[2]}"
    names = [role.name for role in run.roles if role.name]
    job = max((one for one in _jobs.of(project) if one and found[1].startswith(f"{one}-")), key=len, default=None)
    if run.kind == "JobSet" and job == run.name and rest.partition(".")[0] in ("", subdomain(run, run.roles[0])):
        if names and found[1] not in (f"{run.name}-{name}" for name in names):
            return f"its parts are {', '.join(names)}", f"write `{run.name}-{names[0]}{last}`"
        return None
    old = next((found[1].removesuffix(f"-{name}") for name in names if found[1].endswith(f"-{name}")), "")
    if job is None and old and rest.partition(".")[0] == old and not is_known(project, "Service", old):
        return f"the names of its pods begin with `{run.name}-`", f"write the name of this {run.kind}, `{run.name}`"
    return None


def _unnamed(run: Run, role: Role, host: str, below: str) -> tuple[str, str] | None:
    """Returns the reason why the pods of a Job have no names, and the remedy; None if they have."""
    if run.kind == "JobSet" and role.tree.get("completionMode") == "NonIndexed":
        return UNNAMED, "write `completionMode: Indexed`"
    if run.kind == "JobSet" and not below and not text(role.pod.tree, "subdomain"):
        return "with `enableDNSHostnames: false` its pods have no names", "write `enableDNSHostnames: true`"
    if run.kind != "Job" or "hostname" in role.pod.tree or not re.fullmatch(rf"{re.escape(run.name)}-\d+", host):
        return None
    if run.spec.get("completionMode") != "Indexed":
        return UNNAMED, "add it"
    return None if below else ("the pod template has no `subdomain`", "add it, and a headless Service of the same name")


def _without_service(run: Run, host: str, rest: str, project: Project) -> tuple[str, str] | None:
    """Returns the fault of a pod of Volcano that is named without the Service of its job."""
    is_pod = any(re.fullmatch(rf"{re.escape(f'{run.name}-{role.name}')}-\d+", host) for role in run.roles)
    if not is_pod or is_known(project, "Service", host):
        return None
    if rest:
        return _without_plugin(run, rest.partition(".")[0], project)
    missing = "" if "svc" in plugins(run) else ", and add the plugin `svc`"
    return "its pods have their names in the domain of the job's Service", f"write `{host}.{run.name}`{missing}"


def _without_plugin(run: Run, domain: str, project: Project) -> tuple[str, str] | None:
    """Returns the fault of a pod of Volcano under the Service of its job, which no plugin creates."""
    has_own = any(text(role.pod.tree, "subdomain") for role in run.roles)
    if domain != run.name or "svc" in plugins(run) or has_own or is_known(project, "Service", domain):
        return None
    return "no plugin of the job creates its Service, so its pods have no names", "add `svc: []` to `plugins`"


def _of_other_job(run: Run, host: str, rest: str, project: Project) -> tuple[str, str] | None:
    match = KUBEFLOW.match(host)
    if match is None or match[1] in _jobs.of(project):
        return None
    if not text(metadata_of(run), "name"):
        return None
    if rest or is_known(project, "Service", host):
        return None
    first = next((name for name in ("Master", "Chief") if run.role(name) is not None), None)
    first = first or next((other.name for other in run.roles), "worker")
    return f"the names of its pods begin with `{run.name}-`", f"write `{run.name}-{first.lower()}-0`"


_jobs: LastIndex[Project, frozenset[str]] = LastIndex(lambda project: frozenset(run.name for run in project.runs))
