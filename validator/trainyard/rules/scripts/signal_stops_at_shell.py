"""A shell is the first process of the container and keeps SIGTERM, so the program never learns that the pod ends.

The kubelet signals the first process alone. A shell that waits for a command does not pass the signal on: the training
writes no last checkpoint, a server drops its requests, and the pod is killed when the grace period is over. bash
replaces itself by the last command of a plain script, but not by one behind `eval` or in a pipe. dash, which is `sh` in
Debian and Ubuntu, and the shell of BusyBox never do.

The rule looks at pods with a `terminationGracePeriodSeconds` of more than 30, which ask for time, and at commands that
train or start a model server. It leaves out scripts with `exec`, `trap` or `wait`, pods with a `preStop` hook, and `sh`
in images of Red Hat and others in which it is bash.

Write `exec` before the program. That does not help in a pipe: send the log elsewhere with `> >(tee FILE) 2>&1`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.jobs.workloads import is_ray
from trainyard.analysis.launchers.model_servers import server_starts
from trainyard.analysis.launchers.training_commands import training_indexes
from trainyard.document.lookup import integer, mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Command, Container, Script
from trainyard.startup import pattern

FIELD, DEFAULT = "terminationGracePeriodSeconds", 30
_HANDLED = pattern(r"\b(?:exec|trap|wait|tini|dumb-init|kill)\b")
# What a pipe ends with, for the log.
_FILTERS = ("tee", "ts", "cat", "grep", "sed", "awk")
_EVAL, _PIPE = pattern(r"(?m)^\s*eval\s"), pattern(rf"\|\s*(?:{'|'.join(_FILTERS)})\b")
_EVALUATED = pattern(
    r"(?:^|[\s\"'/])(?:torchrun|deepspeed|accelerate launch|vllm serve|python3?|sglang|trtllm-serve)\s"
)
_BASH = pattern(r"(?i)ubi\d?|redhat|rhel|modh/|opendatahub|fedora|centos|rocky|alma|amazonlinux|amzn|suse|arch\b")
_PLAIN = ("sh", "dash", "ash")
# Each part of a pipe is a process of its own, also after `exec`.
_LOG = ", and `> >(tee FILE) 2>&1` in place of the pipe"


@rule(
    code="SC048",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle: pod termination, SIGTERM to the first process",
        "dash 0.5.12 and bash 5.2: the shell stays as the first process (seen)",
        "github.com/petuum/adaptdl issue 105, github.com/kserve/kserve pull 5496",
    ),
    needs=(FIELD,),
)
def signal_stops_at_shell(container: Container, context: Context) -> Iterator[Problem]:
    """Report programs that do not get the signal at the end of their pod."""
    pod, run = context.pod, context.run
    if pod is None or run is None or is_ray(run) or not has_all_pods(run) or len(container.scripts) != 1:
        return
    grace, script = integer(pod.tree, FIELD), container.scripts[0]
    if grace is None or grace <= DEFAULT or mapping(container.tree, "lifecycle") or script.path:
        return
    if pod.tree.get("shareProcessNamespace") is True or _HANDLED.search(script.text):
        return
    shell = container.command[0].rsplit("/", 1)[-1] if container.command else ""
    program = _program(container)
    if program is not None and _stays(shell, script, container):
        yield Problem(
            program.at,
            f"`{shell}` does not pass SIGTERM on to the program, which is killed after the {grace} s of `{FIELD}`",
            "write `exec` before it" + (_LOG if _PIPE.search(script.text) else ""),
        )


def _program(container: Container) -> Command | None:
    """Returns the command that has to get the signal: the last one, if it trains or serves."""
    commands = list(container.commands)
    while len(commands) > 1 and commands[-1].program in _FILTERS:
        commands.pop()
    if not commands:
        return None
    last = commands[-1]
    if last.program == "eval":
        return last if _EVALUATED.search(" ".join(last.words[1:])) else None
    trains = len(commands) - 1 in training_indexes([command.words for command in commands])
    return last if trains or any(start.command.at == last.at for start in server_starts(container)) else None


def _stays(shell: str, script: Script, container: Container) -> bool:
    """True if the shell remains the first process while the last command of its script runs."""
    if shell in (*_PLAIN, "bash") and (_EVAL.search(script.text) or _PIPE.search(script.text)):
        return True
    return shell in _PLAIN and container.image is not None and not _BASH.search(container.image)
