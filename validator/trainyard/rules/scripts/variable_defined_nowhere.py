"""The program gets the literal text `$(NAME)`, because the container has no variable of that name.

Kubernetes replaces `$(NAME)` in `command` and `args` with variables from the container's own `env` and `envFrom`, and
with those that the job's operator appends. It leaves any other reference unchanged: variables of the image, of the node
or of another container do not count, and no shell runs a command. For the same reason a program that is started without
a shell gets `$NAME`, `${NAME}` and `$${NAME}` unchanged. The rule reports these if the container has the variable, and
where a launcher takes a number: torchrun refuses `--nproc-per-node=${GPUS}`. A file with such a name also outside of
commands is a template, which a tool such as `envsubst` fills in.

The training operator sets `MASTER_ADDR`, `RANK` and `WORLD_SIZE` in a PyTorchJob only if the job has a Master. Kubeflow
Trainer sets none of them, also with the runtimes that it ships: a TrainJob has `PET_MASTER_ADDR` and `PET_NODE_RANK`,
and torchrun sets the others in the processes that it starts.

In a script for a shell, an unchanged `$(NAME)` is worse: the shell runs the program `NAME`, and there is none. The
rule reports names in capitals there. It ignores `$NAME` in such a script, because a shell may read any variable of the
image. It also ignores scripts of init containers, containers with an unknown `envFrom`, containers without an image,
which a patch has, and those with a device whose plugin sets variables of its own, such as `VFIO_BDF0`. A kustomization
may set the variable, if its `vars` and patches name it, or change the command. A `$(NAME)` elsewhere in the pod is for
another tool.

Set the variable, or start the program through `bash -c`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.launchers.launcher_options import starts
from trainyard.analysis.launchers.torchrun import rendezvous_options
from trainyard.analysis.objects.patches import is_patch, may_be_patched
from trainyard.analysis.pods.environment import REFERENCE, SERVICE_LINK, has_unknown_variables
from trainyard.analysis.pods.injected import Injected, injected
from trainyard.document.document import Place
from trainyard.document.lookup import text
from trainyard.document.source import Source
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.kubeflow import RUNTIMES
from trainyard.facts.jobs.training_runtimes import shipped_runtime
from trainyard.facts.kubernetes.extended_resources import is_device
from trainyard.facts.programs.launchers import BY_NAME
from trainyard.loaders.manifests.shell import SHELLS
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Command, Container, Pod, Project, Run

SHELL_STYLE = re.compile(r"\$\$?\{[A-Z][A-Z0-9_]*\}|(?<!\$)\$[A-Z][A-Z0-9_]+\b")
# A program's name hardly ever has capitals; `\$(NAME)` and `$$(NAME)` are not for the shell.
SUBSTITUTED = re.compile(r"(?<![$\\])\$\(([A-Z][A-Za-z0-9_]{3,})\)")
# A patch with one of these may set any variable, or replace the command.
_REPLACING = ("envFrom", "command", "args")
# Options with a number, beside those with the number of nodes and processes.
_NUMBERS = ("--node-rank", "--machine-rank", "--master-port", "--main-process-port", "--max-restarts")
# Their plugins set no variable that a command refers to.
KNOWN_DEVICES = ("nvidia.com/", "amd.com/", "google.com/", "vpc.amazonaws.com/", "rdma/")


@rule(
    code="SC002",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes/api v0.34.4 core/v1/types.go: Container.Command, references that cannot be resolved stay unchanged",
        "kubernetes/kubernetes v1.34.4 third_party/forked/golang/expansion/expand.go: Expand",
        "kubernetes/kubernetes v1.34.4 pkg/kubelet/kubelet_pods.go: GenerateRunContainerOptions, opts.Envs of devices",
        "kubeflow/training-operator v1.9.3 pkg/controller.v1/pytorch/envvar.go: setPodEnv",
        "kubeflow/trainer v2.3.0 pkg/runtime/framework/plugins and manifests/base/runtimes: variables of containers",
    ),
    needs=("$",),
)
def variable_defined_nowhere(container: Container, context: Context) -> Iterator[Problem]:
    """References that are never replaced."""
    if not container.commands or has_unknown_variables(container, context) or _has_unknown_device(container):
        return
    if context.pod is not None and _is_template(context.pod):
        return
    for name, problem in _literal(container, context):
        if not may_be_patched(container.at, context.run, context.project, name, *_REPLACING):
            yield problem


def _literal(container: Container, context: Context) -> Iterator[tuple[str, Problem]]:
    """Yields the references that are never replaced, each with the name of its variable."""
    if container.scripts:
        yield from _substituted(container, context)
        return
    command = container.commands[0]
    if any(word.rsplit("/", 1)[-1] in SHELLS for word in command.words):
        return
    # The TrainJobs that refer to a runtime add more variables.
    is_whole = context.pod is None or context.run is None or context.run.is_job or not is_patch(context.pod)
    if context.run is not None and context.run.kind not in RUNTIMES and _has_all(context.run) and is_whole:
        yield from _unset(command, container, context)
    if container.command and (command.program in BY_NAME or command.program.startswith("python")):
        yield from _shell_style(command, container, context)


def _has_all(run: Run) -> bool:
    """Returns true if all variables of the containers are known: the runtimes that Trainer ships set none."""
    if has_all_pods(run):
        return True
    overrides = ("podTemplateOverrides", "podSpecOverrides", "runtimePatches")
    # The runtime with a cache sets variables for its data.
    is_cached = text(run.spec, "runtimeRef", "name").endswith("-with-cache")
    is_shipped = run.kind == "TrainJob" and shipped_runtime(run.spec) is not None and not is_cached
    return is_shipped and not any(run.spec.get(name) for name in overrides)


def _has_unknown_device(container: Container) -> bool:
    """Returns true for a device whose plugin may set any variable: the kubelet replaces references to these too."""
    return any(is_device(name) and not name.startswith(KNOWN_DEVICES) for name in container.limits)


def _is_template(pod: Pod) -> bool:
    """True if another tool replaces `$(NAME)`: Kubernetes does so in containers alone."""
    fields = ("serviceAccountName", "nodeName", "priorityClassName", "schedulerName", "nodeSelector")
    return any(REFERENCE.search(str(pod.tree.get(name, ""))) for name in fields)


def _unset(command: Command, container: Container, context: Context) -> Iterator[tuple[str, Problem]]:
    known = _set(container, context)
    reported = _reported(container, context)
    for word, at in zip(command.words, command.word_at, strict=True):
        if at in reported:
            continue
        for dollars, name in REFERENCE.findall(word):
            if _may_be_shell(word, name, command, container):
                continue
            if len(dollars) % 2 or known.has(name) or SERVICE_LINK.match(name):
                continue
            message = (
                f"container {container.name} has no variable {name}: the program gets the literal text `$({name})`"
            )
            yield name, Problem(at, message, f"set {name} in env, or use a variable that this kind of job sets")


def _substituted(container: Container, context: Context) -> Iterator[tuple[str, Problem]]:
    """Yields references that the shell takes for programs: `$(NAME)` stays if nothing sets the variable."""
    run = context.run
    if run is None or run.kind in RUNTIMES or not _has_all(run) or (context.pod and is_patch(context.pod)):
        return
    known = _set(container, context)
    for script in container.scripts if container.command or container.args else ():
        if script.path:
            continue
        for match in SUBSTITUTED.finditer(script.text):
            name = match[1]
            if known.has(name) or SERVICE_LINK.match(name) or f"{name}()" in script.text:
                continue
            line = script.text.count("\n", 0, match.start())
            message = f"nothing sets {name} in `env`, so `$({name})` stays: the shell looks for a program of this name"
            advice = f"set {name} in env, or write `${name}` for a variable of the shell"
            yield name, Problem(script.at.word(line, match[0].strip()), message, advice)


def _reported(container: Container, context: Context) -> list[Place]:
    """Returns the places of addresses that KF022 reports: the operator sets none in a job without a Master."""
    run = context.run
    if run is None or run.kind != "PyTorchJob" or run.role("Master") is not None:
        return []
    if any(container.setting(name) is not None for name in ("MASTER_ADDR", "PET_MASTER_ADDR")):
        return []
    return [at for value, at in rendezvous_options(container) if "MASTER_ADDR" in value]


def _may_be_shell(word: str, name: str, command: Command, container: Container) -> bool:
    """Returns true if the program, or the image's entrypoint without a `command`, may run the word as shell text."""
    if not container.command:
        return " " in word or not name.isupper()
    return " " in word and command.program not in BY_NAME and not command.program.startswith("python")


def _set(container: Container, context: Context) -> Injected:
    """Returns the variables that are set for a container, by itself or by an operator."""
    own = {setting.name for setting in container.settings if setting.via in ("env", "envFrom")}
    # Operators append variables to containers, but not to init containers.
    if context.pod is None or not any(container is other for other in context.pod.containers):
        return Injected(frozenset(own), ())
    operator = injected(context.run)
    return operator._replace(names=operator.names | own)


def _shell_style(command: Command, container: Container, context: Context) -> Iterator[tuple[str, Problem]]:
    if "-c" in command.words:
        return
    known = _set(container, context)
    # If values contain `$NAME` too, the file is a template that a tool such as envsubst completes first.
    template = any(SHELL_STYLE.search(setting.value or "") for setting in container.settings)
    reported = _reported(container, context)
    numbers = _numbers(container)
    for word, at in zip(command.words, command.word_at, strict=True):
        if at in reported:
            continue
        for found in SHELL_STYLE.finditer(word):
            received = found.group().replace("$$", "$")
            name = received.strip("${}")
            doubled = received != found.group()
            message = f"no shell expands this: the program gets the literal text `{received}`"
            if doubled or (not template and (known.has(name))):
                yield name, Problem(at, message, f"write $({name}), or start the program through `bash -c`")
            elif not template and at in numbers and not _is_filled_in(container, context):
                yield name, Problem(at, message, f"write the number, or set {name} in env and write $({name})")


def _numbers(container: Container) -> frozenset[Place]:
    """Returns the places of words with a number that a launcher takes, as a value or behind its option."""
    found = set()
    for start in starts(container):
        launcher = start.launcher
        counted = (*launcher.per_node, *launcher.total, *launcher.nodes, *_NUMBERS)
        for word, index in start.options:
            name, equals, _ = word.partition("=")
            at = index if equals else index + 1
            if name.replace("_", "-") in counted and at < len(start.command.words):
                found.add(start.place(at))
    return frozenset(found)


def _is_filled_in(container: Container, context: Context) -> bool:
    """Returns true if the file has `$NAME` outside of commands too: then a tool such as `envsubst` fills it in."""
    source = container.at.document.source
    return _in_text.of(source) > _in_commands.of(context.project).get(id(source), 0)


def _count_in_commands(project: Project) -> Mapping[int, int]:
    """Returns how many `$NAME` the commands of each file have, by the identity of its source."""
    counts: Counter[int] = Counter()
    for run in project.runs:
        for role in run.roles:
            for container in (*role.pod.containers, *role.pod.init_containers):
                words = (*container.command, *container.args)
                counts[id(container.at.document.source)] += sum(len(SHELL_STYLE.findall(word)) for word in words)
    return counts


_in_text: LastIndex[Source, int] = LastIndex(lambda source: len(SHELL_STYLE.findall(source.text)))
_in_commands: LastIndex[Project, Mapping[int, int]] = LastIndex(_count_in_commands)
