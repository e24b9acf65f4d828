"""The amount of memory ends with `m`, which is a thousandth: `512m` is half a byte.

In a quantity, `m` stands for milli, `M` for a million and `Mi` for 2^20. Kubernetes accepts `512m`. As a request,
it reserves a byte, so the pod lands on a node without the memory it needs and is evicted first. As a limit, the
container cannot start.

Write `512Mi`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.document import SetValue
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Container

RESOURCES = ("memory", "ephemeral-storage")
# Larger numbers are real amounts of bytes in thousandths, which autoscalers and conversions write.
MOST_DIGITS = 9


@rule(
    code="SH018",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes.io/docs/concepts/configuration/manage-resources-containers: pay attention to the case of suffixes",
        "github.com/kubernetes/website issue 30499",
    ),
    fix="unsafe",
    needs=("memory", "ephemeral-storage"),
)
def memory_in_thousandths(container: Container) -> Iterator[Problem]:
    """Report amounts of memory below one MiB with the suffix m."""
    for field in ("requests", "limits"):
        given = mapping(container.tree, "resources", field)
        for name in RESOURCES:
            value = given.get(name)
            digits = value[:-1] if isinstance(value, str) and value.endswith("m") else ""
            if not digits.isdecimal() or len(digits) > MOST_DIGITS:
                continue
            at = container.at.child("resources", field, name)
            yield Problem(
                at,
                f"{value} of {name} are {int(digits) / 1000:g} bytes: `m` is a thousandth",
                f"write `{digits}Mi`",
                (SetValue(at, f"{digits}Mi"),),
            )
