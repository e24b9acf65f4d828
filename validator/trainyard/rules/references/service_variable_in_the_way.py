"""A Service has the name of a program, and Kubernetes sets a variable of that program to an address.

For a Service `vllm`, the pods of its namespace get `VLLM_PORT=tcp://10.0.12.7:80`, as for every Service. vLLM reads
its own port from this variable, and stops with "invalid literal for int()" or "appears to be a URI". The MLflow server
reads `MLFLOW_PORT` in the same way. Pods that are older than the Service fail with their next restart.

The rule looks at a Service and pods in one file.

Rename the Service, or set `enableServiceLinks: false` in the pods.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Container, Project, Resource, Run

# The name of a Service, the program that reads its variable, and signs of that program.
_PROGRAMS = {
    "vllm": ("vLLM", re.compile(r"(?:^|[/ .])vllm(?:$|[/ .:-])")),
    "mlflow": ("MLflow", re.compile(r"(?:^|[/ ])mlflow(?:$|[/ :])")),
}

_PORT = re.compile(r"(?:^|\s)(?:--port|-p)(?:=|\s)")


@rule(
    code="RF024",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes.io/docs/concepts/services-networking/service: environment variables of Services",
        "docs.vllm.ai: env_vars, do not name the Service vllm; github.com/opea-project/GenAIInfra pull 612",
        "mlflow.org/docs/latest/cli: mlflow server --port, MLFLOW_PORT",
    ),
    needs=tuple(sorted(_PROGRAMS)),
)
def service_variable_in_the_way(resource: Resource, context: Context) -> Iterator[Problem]:
    """Report Services whose variables a program reads."""
    if resource.kind != "Service" or resource.name not in _PROGRAMS or resource.api_version != "v1":
        return
    # A kustomization may give the Service of another file another name.
    place = (resource.name, resource.namespace, id(resource.at.document.source))
    if (found := _readers.of(context.project).get(place)) is not None:
        run, reader = found
        program = _PROGRAMS[resource.name][0]
        yield Problem(
            resource.at.child("metadata", "name"),
            f"Kubernetes sets {_variable(resource.name)} to the address of this Service, and {program} in {run.kind} "
            f"{run.name} reads its port from there",
            "rename the Service, or set `enableServiceLinks: false` in the pods",
            related=((reader.at, f"the container with {program}"),),
        )


def _variable(name: str) -> str:
    return f"{name.upper()}_PORT"


def _find_readers(project: Project) -> dict[tuple[str, str, int], tuple[Run, Container]]:
    """Returns the first reader of each variable, by the name of the Service, the namespace and the file."""
    found: dict[tuple[str, str, int], tuple[Run, Container]] = {}
    for run in project.runs:
        pods = [role.pod for role in run.roles if role.pod.tree.get("enableServiceLinks") is not False]
        for name, (_, sign) in _PROGRAMS.items():
            for pod in pods:
                reader = next((one for one in pod.containers if _reads(one, sign, name)), None)
                if reader is not None and reader.setting(_variable(name)) is None:
                    found.setdefault((name, run.namespace, id(run.at.document.source)), (run, reader))
    return found


def _reads(container: Container, sign: re.Pattern[str], name: str) -> bool:
    """True if a container starts the program, and the program looks at the variable."""
    words = _text(container)
    # MLflow's command line ignores the variable if the option is there; vLLM reads it in any case.
    return sign.search(words) is not None and not (name == "mlflow" and _PORT.search(words))


def _text(container: Container) -> str:
    return " ".join((container.image or "", *container.command, *container.args))


_readers: LastIndex[Project, dict[tuple[str, str, int], tuple[Run, Container]]] = LastIndex(_find_readers)
