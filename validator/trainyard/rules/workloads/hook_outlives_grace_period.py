"""The `preStop` hook takes longer than the grace period, so the container is killed before it can end by itself.

The grace period starts with the hook. When it is over, the kubelet kills the container after two more seconds: the
process gets SIGTERM late or never, and requests or writes in progress are lost. The default is 30 seconds.

The rule counts the `sleep` in a hook. For jobs, `grace-period-shorter-than-save` reports the same fault.

Write a `terminationGracePeriodSeconds` above the time of the hook and of the shutdown after it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.document.document import Add, SetValue
from trainyard.document.lookup import integer, items, mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Container, Pod

DEFAULT = 30
FIELD = "terminationGracePeriodSeconds"
_SLEEP = re.compile(r"\bsleep\s+(\d{1,6})(s|m|h|)(?![\w.])")
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}


@rule(
    code="WL015",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes.io/docs/concepts/containers/container-lifecycle-hooks: the grace period starts before the hook",
        "github.com/kubernetes/kubernetes issues 23515 and 65496",
    ),
    fix="unsafe",
    needs=("preStop",),
)
def hook_outlives_grace_period(pod: Pod, context: Context) -> Iterator[Problem]:
    """Report hooks that end after the grace period."""
    if context.run is None or context.run.is_job or not has_all_pods(context.run):
        return
    written = pod.tree.get(FIELD)
    grace = DEFAULT if written is None else integer(pod.tree, FIELD)
    for container in pod.containers:
        seconds = _slept(container)
        if grace is None or not seconds or seconds < grace:
            continue
        at, enough = pod.at.child(FIELD), (seconds + DEFAULT + 29) // 30 * 30
        yield Problem(
            container.at.child("lifecycle", "preStop").key(),
            f"the hook sleeps {seconds} s, and the container is killed after {grace} s (`{FIELD}`)",
            f"write `{FIELD}: {enough}`",
            (SetValue(at, enough) if written is not None else Add(pod.at, FIELD, enough),),
        )


def _slept(container: Container) -> int:
    hook = mapping(container.tree, "lifecycle", "preStop")
    words = " ".join(str(word) for word in items(hook, "exec", "command"))
    return (integer(hook, "sleep", "seconds") or 0) + sum(
        int(number) * _UNITS[unit] for number, unit in _SLEEP.findall(words)
    )
