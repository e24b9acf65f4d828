"""The controller has less memory than it needs to start, so it is killed again and again, and no job makes progress.

The training operator keeps all jobs and pods of the cluster in memory. With a limit of 30Mi, an early default, it ends
with `OOMKilled` at its start. Users raised it to 40Mi and more, and the project removed the limit from its manifests.

Remove the limit, or set it to 512Mi or more.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.resources.requests import written
from trainyard.engine.rule import Problem, rule
from trainyard.facts.kubernetes.quantities import parse_quantity
from trainyard.model.run import Container

# The least memory with which a controller was seen to start, by a part of its image.
LEAST = {"training-operator": 40 * 2**20}


@rule(
    code="WL016",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "github.com/kubeflow/trainer issue 1661 and pull 1668: OOMKilled with 30Mi, the limit is removed",
        "github.com/alauda/kubeflow-chart issue 45; github.com/opendatahub-io/manifests pulls 92 and 93",
    ),
    needs=tuple(LEAST),
)
def operator_memory_too_small(container: Container) -> Iterator[Problem]:
    """Report limits below the need of a controller."""
    image = (container.image or "").rpartition("/")[2]
    least = next((size for name, size in LEAST.items() if image.startswith(name)), None)
    limit = parse_quantity(container.limits.get("memory")) if least is not None else None
    if least is not None and limit is not None and limit < least:
        yield Problem(
            container.at.child("resources", "limits", "memory"),
            f"{written(limit, 'memory')} of memory are too few for the {image.partition(':')[0]}: it is killed at its "
            "start (OOMKilled)",
            "remove the limit, or write 512Mi or more",
        )
