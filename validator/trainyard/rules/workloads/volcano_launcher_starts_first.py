"""mpirun starts at once in the first task, but nothing makes it wait until the workers listen.

Volcano creates the pods of all tasks at the same time. If the launcher's container starts before the `sshd` of the
workers, mpirun fails with `ssh: connect to host ...`, and with `restartPolicy: Never` the task fails.

The rule checks tasks that start mpirun with restart policy Never. It ignores scripts with a loop or a `sleep`.

Add `dependsOn` with the task of the workers and a readiness probe to these, or let the script wait for them.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.workloads import is_volcano, restart_policies
from trainyard.analysis.launchers.ssh_servers import ssh_servers
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.programs.launchers import MPI_LAUNCHERS
from trainyard.model.run import Container, Role, Run
from trainyard.startup import pattern

WAITS = pattern(r"\b(until|while|sleep|wait|ping|nslookup|getent|retry)\b")


@rule(
    code="WL010",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "volcano-sh/volcano v1.15.1 docs/design/task-launch-order-within-job.md: dependsOn",
        "github.com/volcano-sh/volcano issue 2402",
    ),
    needs=("batch.volcano.sh",),
)
def volcano_launcher_starts_first(role: Role, context: Context) -> Iterator[Problem]:
    """Report launchers that do not wait."""
    run, container = context.run, role.container
    if run is None or container is None or not is_volcano(run) or len(run.roles) < 2:
        return
    if "dependsOn" in role.tree or role.pod.tree.get("restartPolicy") != "Never" or _restarts_failed(run, role):
        return
    if role.pod.init_containers or any(WAITS.search(script.text) for script in container.scripts):
        return
    at = next((one.word_at[0] for one in container.commands if one.program in MPI_LAUNCHERS), None)
    if at is not None and _serves_ssh(*(one.container for one in run.roles if one is not role)):
        message = f"mpirun of task `{role.name}` starts at once: nothing makes it wait for the sshd of the workers"
        yield Problem(at, message, "add `dependsOn` with the task of the workers, or wait for them in the script")


def _restarts_failed(run: Run, role: Role) -> bool:
    return any("Failed" in str(policy) for policy in restart_policies(run, role))


def _serves_ssh(*containers: Container | None) -> bool:
    return any(one is not None and ssh_servers(one) for one in containers)
