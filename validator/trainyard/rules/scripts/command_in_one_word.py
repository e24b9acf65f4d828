"""The whole command line is one element of `command`, so the container runtime looks for a program of that name.

Kubernetes starts the first element of `command` itself, without a shell, and does not split it. The container ends with
"exec: python train.py: executable file not found in $PATH", and the pod stays in `CrashLoopBackOff` or
`RunContainerError`.

The same holds for `ray job submit ... -- "python train.py"`, and for a launcher with its script and its options in one
word: they quote the word again, or start it without a shell.

The rule leaves out pods of Ray, whose operator joins the command for a shell, and kinds that it does not know.

Write every word as an element of its own, or pass the line to `sh -c`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.jobs.workloads import is_ray
from trainyard.analysis.launchers.launcher_options import starts
from trainyard.document.lookup import items
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Command, Container
from trainyard.startup import pattern

# A program, a space, and something that looks like an argument.
_LINE = pattern(r"\s*[\w./-]+[ \t]+[-\w./~\"'$]")


_SCRIPT = pattern(r"[\w./-]+\.py[ \t]+-")


@rule(
    code="SC013",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes.io/docs/tasks/inject-data-application/define-command-argument-container",
        "ray 2.51 python/ray/dashboard/modules/job/cli.py: submit, list2cmdline",
        "github.com/vllm-project/vllm issue 4462, github.com/ray-project/ray issue 25886",
    ),
)
def command_in_one_word(container: Container, context: Context) -> Iterator[Problem]:
    """Report a program whose name has spaces."""
    for command in container.commands:
        yield from _submitted(command)
    for start in starts(container):
        word = start.command.words[start.program] if start.program is not None else ""
        if _SCRIPT.match(word):
            yield Problem(
                start.place(start.program or 0),
                f"{start.name} looks for one file named `{word}`",
                "write every word as an element of its own, without quotes around all of them",
            )
    first = next(iter(items(container.tree, "command")), None)
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


def _submitted(command: Command) -> Iterator[Problem]:
    """Yields the entrypoint of a Ray job that is a line in one word: Ray quotes it again."""
    words = command.words
    if command.program != "ray" or words[1:3] != ("job", "submit") or "--" not in words:
        return
    index = words.index("--") + 1
    if index == len(words) - 1 and _LINE.match(words[index]) and "{{" not in words[index]:
        yield Problem(
            command.word_at[index],
            f"Ray quotes each word behind `--` again, so the shell of the job looks for a program `{words[index]}`",
            "write every word as an element of its own, without quotes around all of them",
        )
