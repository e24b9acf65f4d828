"""The grace period is shorter than saving a checkpoint takes, so the pod is killed while it saves.

When a pod is deleted, evicted or preempted, its processes get SIGTERM, and SIGKILL after
`terminationGracePeriodSeconds`; the default is 30. A `preStop` hook runs first, and its time counts too. An interrupted
save leaves a partial file, and the run falls back to an older checkpoint.

The rule takes the time to save from the files: from options such as `--save-seconds` or `--checkpoint-timeout`, from an
annotation that ends with `save-seconds`, and from a `sleep` in a `preStop` hook. Without any of these it reports
nothing. `--checkpoint-seconds` is no such option: the reference trainer takes it as the time between saves.

Raise `terminationGracePeriodSeconds` above the sum, with some seconds to spare.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.document.document import Add, SetValue
from trainyard.document.lookup import integer, items, mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.kubeflow import RUNTIMES
from trainyard.model.run import Container, Role

OPTIONS = (
    "--save-seconds", "--save-timeout", "--save-timeout-seconds", "--checkpoint-timeout",
    "--checkpoint-timeout-seconds", "--preemption-save-seconds",
)  # fmt: skip
ANNOTATIONS = ("save-seconds", "save-timeout-seconds", "checkpoint-timeout-seconds")
DURATION = re.compile(r"(\d{1,6})(s|m|min|h|)\Z")
UNITS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600}
SLEEP = re.compile(r"\bsleep\s+(\d{1,6})(s|m|h|)(?![\w.])")
DEFAULT = 30
# Extra seconds in the value that the fix writes, which is rounded up to half minutes.
SPARE = 30


@rule(
    code="SC006",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes/kubernetes v1.34.4 pkg/kubelet/kuberuntime/kuberuntime_container.go: killContainer takes the time "
        "of executePreStopHook off the grace period",
    ),
    fix="unsafe",
    needs=("seconds", "save-timeout", "save_timeout", "checkpoint-timeout", "checkpoint_timeout", "preStop"),
)
def grace_period_shorter_than_save(role: Role, context: Context) -> Iterator[Problem]:
    """A grace period that ends before the checkpoint is written."""
    if context.run is None or context.run.kind in RUNTIMES or not role.trains or not has_all_pods(context.run):
        return
    written = role.pod.tree.get("terminationGracePeriodSeconds")
    grace = DEFAULT if written is None else integer(role.pod.tree, "terminationGracePeriodSeconds")
    annotated = max(_annotated(annotations) for annotations in (context.run.annotations, role.pod.annotations))
    # The kubelet stops the containers of a pod in parallel.
    save, hook = max(
        ((max(_option(c), annotated if c is role.container else 0), _hook(c)) for c in role.pod.containers),
        key=sum,
        default=(0, 0),
    )
    needed = save + hook
    if grace is None or not needed or grace > needed or (grace == needed and not hook):
        return
    at = role.pod.at.child("terminationGracePeriodSeconds")
    enough = (needed + SPARE + 29) // 30 * 30
    parts = [f"saving takes {save} s"] * bool(save) + [f"the preStop hook sleeps {hook} s"] * bool(hook)
    yield Problem(
        at if written is not None else role.pod.at,
        f"the pod is killed {grace} s after SIGTERM, but {' and '.join(parts)}",
        f"write `terminationGracePeriodSeconds: {enough}`",
        (SetValue(at, enough) if written is not None else Add(role.pod.at, "terminationGracePeriodSeconds", enough),),
    )


def _option(container: Container) -> int:
    values = [command.option(*OPTIONS) for command in container.commands]
    return max((_seconds(value) for value in values if value is not None), default=0)


def _annotated(annotations: dict[str, Any]) -> int:
    values = [value for key, value in annotations.items() if key.endswith(ANNOTATIONS)]
    return max((_seconds(str(value)) for value in values), default=0)


def _seconds(value: str) -> int:
    match = DURATION.match(value)
    return int(match[1]) * UNITS[match[2]] if match else 0


def _hook(container: Container) -> int:
    hook = mapping(container.tree, "lifecycle", "preStop")
    if not hook:
        return 0
    words = " ".join(str(word) for word in items(hook, "exec", "command"))
    slept = [int(number) * UNITS[unit] for number, unit in SLEEP.findall(words)]
    return (integer(hook, "sleep", "seconds") or 0) + sum(slept)
