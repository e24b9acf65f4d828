"""The program gets the text `$(NAME)` instead of a value, because no variable of that name is set for the container.

Kubernetes replaces `$(NAME)` in `command` and `args` with variables of the container's own `env` and `envFrom`, and of
those that the job's operator appends. Any other reference stays as it is: variables of the image, of the node or of
another container do not count, and no shell is there to run a command. For the same reason `$NAME`, `${NAME}` and
`$${NAME}` reach the program as they stand when it is started without a shell.

The training operator sets `MASTER_ADDR`, `RANK` and `WORLD_SIZE` in a PyTorchJob only beside a Master. Text for a
shell, init containers' scripts and containers with an unknown `envFrom` are left alone.

Set the variable, or start the program through `bash -c`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from validator.aspects.environment import open_ended
from validator.aspects.known import pods_are_whole
from validator.facts.injected import injected
from validator.facts.kubeflow import RUNTIMES
from validator.model import Command, Container
from validator.roads.shell import SHELLS
from validator.rule import Context, Problem, rule

REFERENCE = re.compile(r"(\$*)\$\(([A-Za-z_][A-Za-z0-9_]*)\)")
SHELL_STYLE = re.compile(r"\$\$?\{[A-Z][A-Z0-9_]*\}|(?<!\$)\$[A-Z][A-Z0-9_]+\b")
DIRECT = frozenset(("torchrun", "accelerate", "deepspeed"))
# Service links: the kubelet sets these for every Service of the namespace.
SERVICE_LINK = re.compile(r".*_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_\w+)?)\Z|KUBERNETES_")


@rule(
    code="SC002",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes/api v0.34.4 core/v1/types.go: Container.Command, references that cannot be resolved stay unchanged",
        "kubernetes/kubernetes v1.34.4 third_party/forked/golang/expansion/expand.go: Expand",
        "kubeflow/training-operator v1.9.3 pkg/controller.v1/pytorch/envvar.go: setPodEnv",
    ),
    needs=("$",),
)
def variable_defined_nowhere(container: Container, context: Context) -> Iterator[Problem]:
    """References that nothing replaces."""
    if container.scripts or not container.commands or open_ended(container, context):
        return
    command = container.commands[0]
    if any(word.rsplit("/", 1)[-1] in SHELLS for word in command.words):
        return
    # A runtime gets more variables from the TrainJobs that refer to it.
    if context.run is not None and context.run.kind not in RUNTIMES and pods_are_whole(context.run):
        yield from _unset(command, container, context)
    if container.command and (command.program in DIRECT or command.program.startswith("python")):
        yield from _shell_style(command, container, context)


def _unset(command: Command, container: Container, context: Context) -> Iterator[Problem]:
    known, prefixes = _set(container, context)
    for word, at in zip(command.words, command.word_at, strict=True):
        for dollars, name in REFERENCE.findall(word):
            if _may_be_shell(word, name, command, container):
                continue
            if len(dollars) % 2 or name in known or name.startswith(prefixes) or SERVICE_LINK.match(name):
                continue
            yield Problem(
                at,
                f"no variable {name} is set for container {container.name}: the program gets the text `$({name})`",
                f"set {name} in env, or use a variable that is set for this kind of job",
            )


def _may_be_shell(word: str, name: str, command: Command, container: Container) -> bool:
    """Whether the program, or the image's entrypoint where no `command` is given, may run the word as shell text."""
    if not container.command:
        return " " in word or not name.isupper()
    return " " in word and command.program not in DIRECT and not command.program.startswith("python")


def _set(container: Container, context: Context) -> tuple[frozenset[str], tuple[str, ...]]:
    """Names that are set for a container, and beginnings of names that may be."""
    own = {setting.name for setting in container.settings if setting.via in ("env", "envFrom")}
    # The operators append to containers, and not to init containers.
    if context.pod is None or not any(container is other for other in context.pod.containers):
        return frozenset(own), ()
    operator = injected(context.run)
    return operator.names | own, operator.prefixes


def _shell_style(command: Command, container: Container, context: Context) -> Iterator[Problem]:
    if "-c" in command.words:
        return
    known, prefixes = _set(container, context)
    # Where `$NAME` stands in values too, the file is a template that a tool such as envsubst completes first.
    template = any(SHELL_STYLE.search(setting.value or "") for setting in container.settings)
    for word, at in zip(command.words, command.word_at, strict=True):
        for found in SHELL_STYLE.finditer(word):
            received = found.group().replace("$$", "$")
            name = received.strip("${}")
            doubled = received != found.group()
            if doubled or (not template and (name in known or name.startswith(prefixes))):
                message = f"no shell runs here: the program gets the text `{received}`"
                yield Problem(at, message, f"write $({name}), or start the program through `bash -c`")
