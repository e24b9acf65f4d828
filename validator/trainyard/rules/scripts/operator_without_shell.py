"""The command has an operator of the shell among its words, but no shell runs it.

Kubernetes starts the first element of `command` itself and hands it all other elements as they are: `&&`, `|` and `>`
are arguments of the first program. `pip` stops with "Invalid requirement: '&&'", or a program ignores the rest and the
second one never runs. The same holds for the words after the script of `bash -c`: they are its parameters.

The rule leaves out pods of Ray, whose operator joins the command for a shell, containers without `command`, programs
that join their arguments for a shell, such as ssh, and shell scripts of the image. A single sign behind an option, as
in `--delimiter |`, is the value of the option.

Write the line as one element after `sh -c`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.jobs.workloads import is_ray
from trainyard.document.document import Place
from trainyard.document.lookup import items
from trainyard.engine.rule import Context, Problem, rule
from trainyard.loaders.manifests.shell import SHELLS
from trainyard.model.run import Container
from trainyard.startup import pattern

_OPERATOR = pattern(r"&&|\|\|?|&|&?>>?|[12]>>?|[12&]?>>?/dev/null|2>&1")
# Signs that an option may have for its value.
_VALUES = ("|", "&", ">")
# Programs that hand their arguments to a shell, compare with these signs, or take them for something else.
_JOINING = frozenset(
    (
        "ssh", "pdsh", "parallel-ssh", "pssh", "watch", "su", "runuser", "script", "screen", "tmux", "parallel", "eval",
        "expr", "test", "[", "[[", "find", "gst-launch-1.0", "jq", "yq", "awk", "gawk", "entr", "chroot_sh",
    )
)  # fmt: skip
# A shell script that reads its parameters may run them.
_PARAMETERS = ("$@", "$*", "$0", "$1", "${@", "${*", "${1")


@rule(
    code="SC043",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes.io/docs/tasks/inject-data-application/define-command-argument-container: run a command in a shell",
        "https://community.replicated.com/t/how-to-fix-operator-causing-pod-crashloopbackoff-in-kubernetes/1517",
    ),
    needs=("&", "|", ">"),
)
def operator_without_shell(container: Container, context: Context) -> Iterator[Problem]:
    """Report operators that are arguments of a program."""
    run, words = context.run, _words(container)
    if not words or run is None or is_ray(run) or not has_all_pods(run):
        return
    texts = [word for word, _ in words]
    start = _after_script(texts)
    if start is None or any(text.rsplit("/", 1)[-1] in _JOINING for text in texts):
        return
    for index, (word, at) in enumerate(words[start:], start):
        if _OPERATOR.fullmatch(word) and not (word in _VALUES and texts[index - 1].startswith("-")):
            yield Problem(
                at,
                f"no shell reads `{word}` here: it is an argument of `{texts[0]}`",
                "write the whole line as one element after `sh -c`",
            )
            return


def _words(container: Container) -> list[tuple[str, Place]]:
    """Returns the elements of the command and its arguments; none if the image has the command."""
    fields = {field: items(container.tree, field) for field in ("command", "args")}
    if not fields["command"]:
        return []
    return list(
        itertools.chain.from_iterable(
            ((str(word), container.at.child(field, index)) for index, word in enumerate(listed))
            for field, listed in fields.items()
        )
    )


def _after_script(words: Sequence[str]) -> int | None:
    """Returns the index of the first word that no shell reads; None if a script of the image may read all."""
    shell = next((index for index, word in enumerate(words) if word.rsplit("/", 1)[-1] in SHELLS), None)
    if shell is None:
        started = itertools.takewhile(lambda word: _OPERATOR.fullmatch(word) is None, words)
        return None if any(word.endswith((".sh", ".bash")) for word in started) or "{{" in words[0] else 1
    options = itertools.takewhile(lambda word: word.startswith("-"), words[shell + 1 :])
    script = shell + 1 + sum(1 for _ in options)
    is_given = script < len(words) and any("c" in word for word in words[shell + 1 : script])
    return None if not is_given or any(sign in words[script] for sign in _PARAMETERS) else script + 1
