"""The whole command line is one element of `command`, so the container runtime looks for a program of that name.

Kubernetes starts the first element of `command` itself, without a shell, and does not split it. The container ends with
"exec: python train.py: executable file not found in $PATH", and the pod stays in `CrashLoopBackOff` or
`RunContainerError`.

The rule leaves out pods of Ray, whose operator joins the command for a shell, and kinds that it does not know.

Write every word as an element of its own, or pass the line to `sh -c`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.jobs.workloads import is_ray
from trainyard.document.lookup import items
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Container

# A program, a space, and something that looks like an argument.
_LINE = re.compile(r"\s*[\w./-]+[ \t]+[-\w./~\"'$]")


@rule(
    code="SC013",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes.io/docs/tasks/inject-data-application/define-command-argument-container",
        "github.com/vllm-project/vllm issue 4462",
    ),
)
def command_in_one_word(container: Container, context: Context) -> Iterator[Problem]:
    """Report a program whose name has spaces."""
    command = items(container.tree, "command")
    first = command[0] if command else None
    if not isinstance(first, str) or not _LINE.match(first) or "{{" in first:
        return
    run = context.run
    if run is None or is_ray(run) or not has_all_pods(run):
        return
    program = first.split()[0]
    yield Problem(
        container.at.child("command", 0),
        f"the first element of `command` is a line of several words: there is no program of the name `{program} ...`",
        "write every word as an element of its own, or pass the line to `sh -c`",
    )
