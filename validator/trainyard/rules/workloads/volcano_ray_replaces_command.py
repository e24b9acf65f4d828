"""Volcano's ray plugin replaces the command of the container, so what it starts beside Ray never runs.

The plugin writes `ray start --head --block ...` and `ray start --block --address=...` into the containers `head` and
`worker` of the tasks of these names. `--block` waits, so nothing after it would run either. A server or a
training in the original command is lost without a message.

Remove the command, and submit the program to the cluster with `ray job submit`; or remove the plugin and start Ray in
the command.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.workloads import argument, is_volcano, plugins
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Container, Run

_KINDS = ("head", "worker")


@rule(
    code="WL017",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "volcano-sh/volcano v1.15.1 pkg/controllers/job/plugins/distributed-framework/ray/ray.go: OnPodCreate",
        "github.com/volcano-sh/volcano issue 4750",
    ),
    needs=("batch.volcano.sh",),
)
def volcano_ray_replaces_command(run: Run) -> Iterator[Problem]:
    """Report commands that the ray plugin replaces."""
    arguments = plugins(run).get("ray") if is_volcano(run) else None
    if arguments is None:
        return
    for kind in _KINDS:
        role = run.role(argument(arguments, kind) or kind)
        name = argument(arguments, f"{kind}Container") or kind
        container = next((one for one in role.pod.containers if one.name == name), None) if role is not None else None
        lost = _lost(container) if container is not None else ""
        if container is not None and lost:
            yield Problem(
                container.at.child("command").key(),
                f"Volcano's ray plugin replaces this command by `ray start`: `{lost}` never runs",
                "submit the program with `ray job submit`, or remove the plugin and start Ray in the command",
            )


def _lost(container: Container) -> str:
    """Returns the first program of a command other than Ray itself, empty if there is none."""
    if "command" not in container.tree:
        return ""
    return next((one.program for one in container.commands if one.program not in ("ray", "sh", "bash", "sleep")), "")
