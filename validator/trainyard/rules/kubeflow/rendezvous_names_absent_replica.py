"""The rendezvous address names a pod that the job does not have, so every process waits for it in vain.

The operator creates a Service for each replica: `<job>-master-0` if there is a Master, and `<job>-worker-0` up to the
last Worker. A job without Master has no `<job>-master-0`, and a job of four Workers no `<job>-worker-4`. The name does
not resolve, the rendezvous retries until its timeout, and no log says that the name is wrong. `MASTER_ADDR` has the
same problem: the operator sets it only in jobs with a Master, so elsewhere `$(MASTER_ADDR)` stays unexpanded and
`$MASTER_ADDR` in a script is empty.

Use a replica that exists. In a job of Workers that is `<job>-worker-0`; with a Master, `$(MASTER_ADDR)` is right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.analysis.launchers.torchrun import rendezvous_options
from trainyard.document.document import Place
from trainyard.document.lookup import integer, items, text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Container, Role, Run
from trainyard.startup import pattern

VARIABLES = ("MASTER_ADDR", "PET_MASTER_ADDR", "PET_RDZV_ENDPOINT")
REFERENCE = pattern(r"\$(?:\((?:PET_)?MASTER_ADDR\)|\{(?:PET_)?MASTER_ADDR\}|(?:PET_)?MASTER_ADDR\b)")
# These commands may set any variable of a script.
UNKNOWABLE = ("source", ".", "eval", "read")


@rule(
    code="KF022",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubeflow/training-operator v1.9.3 pkg/controller.v1/common/service.go: CreateNewService; "
        "pkg/controller.v1/pytorch/envvar.go: setPodEnv sets MASTER_ADDR with a Master only; elastic.go",
    ),
    needs=("rdzv_endpoint", "rdzv-endpoint", "RDZV_ENDPOINT", "rdzvHost", "master_addr", "master-addr", "MASTER_ADDR"),
)
def rendezvous_names_absent_replica(run: Run) -> Iterator[Problem]:
    """Report the address of a replica that does not exist."""
    if run.kind != "PyTorchJob":
        return
    for value, at in _addresses(run):
        missing = _missing(run, value)
        if missing is not None:
            yield Problem(at, f"the job has no replica `{missing}`: {_present(run)}", "use a replica that exists")
    if run.role("Master") is not None:
        return
    for role in run.roles:
        for value, at in _options(role):
            reference = REFERENCE.search(value)
            if reference is not None and not _is_set(role.container):
                yield Problem(
                    at,
                    f"`{reference.group()}` is not set: the operator sets it only in jobs with a Master",
                    f"write `{run.name}-worker-0`",
                )


def _addresses(run: Run) -> Iterator[tuple[str, Place]]:
    host = text(run.elastic or {}, "rdzvHost")
    if host:
        yield host, run.at.child("spec", "elasticPolicy", "rdzvHost")
    for role in run.roles:
        yield from _options(role)
        for setting in role.container.settings if role.container is not None else ():
            if setting.name in VARIABLES and setting.value:
                yield setting.value, setting.at


def _options(role: Role) -> Iterator[tuple[str, Place]]:
    if role.container is not None:
        yield from rendezvous_options(role.container)


def _missing(run: Run, address: str) -> str | None:
    match = re.match(rf"({re.escape(run.name)}-(master|worker)-([0-9]{{1,9}}))(?:[.:]|$)", address)
    if match is None:
        return None
    name, kind, index = match.groups()
    count = _count(run, kind.capitalize())
    return name if count is not None and int(index) >= count else None


def _count(run: Run, name: str) -> int | None:
    role = run.role(name)
    if role is None:
        # Another rule reports a misspelt role.
        return None if any(other.name.lower() == name.lower() for other in run.roles) else 0
    if role.replicas is None or name == "Master":
        return role.replicas
    return max(role.replicas, integer(run.elastic or {}, "maxReplicas") or 0)


def _present(run: Run) -> str:
    names = [f"{run.name}-{role.name.lower()}-0 to {(role.replicas or 1) - 1}" for role in run.roles]
    return "there is " + " and ".join(name.removesuffix(" to 0") for name in names)


def _is_set(container: Container | None) -> bool:
    """Return true if the variable may come from a source other than the operator."""
    if container is None or any(container.setting(name) is not None for name in ("MASTER_ADDR", "PET_MASTER_ADDR")):
        return True
    return bool(items(container.tree, "envFrom")) or any(
        command.program in UNKNOWABLE for command in container.commands
    )
