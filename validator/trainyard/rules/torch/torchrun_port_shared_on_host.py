"""Two runs may share a node and its network, and both use the same port of torchrun.

In the host network all pods of a node share its ports. torchrun without a rendezvous listens on port 29500 of the node.
The second run on a node fails with `Address already in use`.

The rule applies to single-pod jobs of one file with the same node selector, whose pods do not take all eight GPUs of a
node.

Write `--standalone`, which chooses a free port, or a different `--master-port` for each job, or remove `hostNetwork`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.torchrun import torchrun_commands
from trainyard.document.document import Place
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Run

NODE = 8


@rule(
    code="TD026",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "pytorch 2.15.0 torch/distributed/run.py: --master-port is 29500 by default; --standalone",
        "github.com/pytorch/pytorch issue 73320",
    ),
    needs=("hostNetwork",),
)
def torchrun_port_shared_on_host(run: Run, context: Context) -> Iterator[Problem]:
    """The port of another run on the same nodes."""
    own = _port(run)
    first = _first.of(context.project).get(_key(run, own[0])) if own is not None else None
    if own is not None and first is not None and first[0] is not run:
        other, at = first
        message = f"{run.kind} {run.name} and {other.name} both use port {own[0]} of the node that they may share"
        help_ = "write --standalone or another --master-port, or remove `hostNetwork`"
        yield Problem(own[1], message, help_, related=((at, "the other run"),))


def _port(run: Run) -> tuple[str, Place] | None:
    """Returns the port that the only pod of a run opens on its node, None if it opens none that is fixed."""
    role = run.roles[0] if len(run.roles) == 1 and run.is_job and run.nodes == 1 else None
    if role is None or role.container is None or not role.pod.host_network or not 0 < role.container.gpus < NODE:
        return None
    if role.container.setting("MASTER_PORT") is not None or role.container.setting("PET_MASTER_PORT") is not None:
        return None
    for launch in torchrun_commands(role.container):
        if not launch.has("--standalone", "--rdzv-backend", "--rdzv-endpoint"):
            found = launch.option_at("--master-port")
            return found if found is not None else ("29500", launch.word_at[0])
    return None


def _key(run: Run, port: str) -> tuple[int, tuple[str, ...], str]:
    """Returns what runs have in common that may share a node and its port: the file, the node selector and the port."""
    selector = mapping(run.roles[0].pod.tree, "nodeSelector")
    return id(run.at.document.source), tuple(sorted(f"{name}={value}" for name, value in selector.items())), port


def _find_first(project: Project) -> dict[tuple[int, tuple[str, ...], str], tuple[Run, Place]]:
    found: dict[tuple[int, tuple[str, ...], str], tuple[Run, Place]] = {}
    for run in project.runs:
        port = _port(run)
        if port is not None:
            found.setdefault(_key(run, port[0]), (run, port[1]))
    return found


_first: LastIndex[Project, dict[tuple[int, tuple[str, ...], str], tuple[Run, Place]]] = LastIndex(_find_first)
