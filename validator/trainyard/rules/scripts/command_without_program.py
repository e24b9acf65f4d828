"""`command` starts with an option, so the container runtime looks for a program of that name.

`command` replaces the entry point of the image, and its first element is the program. Words that the entry point should
get belong in `args`. The container ends with "exec: --epochs=3: executable file not found in $PATH".

The rule leaves out pods of Ray, whose operator joins the command for a shell, and kinds that it does not know.

Move the words to `args`, or write the program in front of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.jobs.workloads import is_ray
from trainyard.document.lookup import items
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Container


@rule(
    code="SC044",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes.io/docs/tasks/inject-data-application/define-command-argument-container: command and entry point",
        "github.com/kubeflow/katib issue 1802",
    ),
)
def command_without_program(container: Container, context: Context) -> Iterator[Problem]:
    """Report commands that are options alone."""
    first = next(iter(items(container.tree, "command")), None)
    run = context.run
    if not isinstance(first, str) or not first.startswith("-") or run is None or is_ray(run) or not has_all_pods(run):
        return
    yield Problem(
        container.at.child("command", 0),
        f"`command` replaces the entry point of the image, and there is no program of the name `{first}`",
        "write these words under `args`, or the program in front of them",
    )
