"""A controller or an agent has less memory than it needs to start, so it is killed again and again.

The training operator keeps all jobs and pods of the cluster in memory. With a limit of 30Mi, an early default, it ends
with `OOMKilled` at its start. Users raised it to 40Mi and more, and the project removed the limit from its manifests.

The daemon of Multus has a limit of 50Mi in the manifest `multus-daemonset-thick.yml`, takes a little more with no pods,
and far more when many pods start at once, as after the restart of a node: no pod of the node gets its networks then.
Since 3.3, the DCGM exporter with its own host engine takes 400Mi and more, on nodes with any number of GPUs.

Remove the limit, or set it to the amount that the message names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from trainyard.analysis.resources.requests import written
from trainyard.engine.rule import Problem, rule
from trainyard.facts.images import short_name, tag_of
from trainyard.facts.kubernetes.quantities import parse_quantity
from trainyard.model.run import Container

_MI = 2**20


class _Need(NamedTuple):
    """The least memory with which a program was seen to start, and what to write.

    `tag` is the form of the tags that need it. With one of `remote`, a part of the work is in another pod.
    """

    least: int
    advice: str
    tag: str = ".*"
    remote: tuple[str, ...] = ()


# By the last part of the image's name.
LEAST = {
    "training-operator": _Need(40 * _MI, "512Mi"),
    "multus-cni": _Need(60 * _MI, "256Mi", r".*thick.*"),
    "dcgm-exporter": _Need(
        400 * _MI,
        "1Gi",
        r"(?:3\.[3-9]|[4-9]\.[0-9]+)\..*",
        ("-r", "--remote-hostengine-info", "DCGM_REMOTE_HOSTENGINE_INFO"),
    ),
}


@rule(
    code="WL016",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "github.com/kubeflow/trainer issue 1661 and pull 1668: OOMKilled with 30Mi, the limit is removed",
        "github.com/alauda/kubeflow-chart issue 45; github.com/opendatahub-io/manifests pulls 92 and 93",
        "github.com/k8snetworkplumbingwg/multus-cni issues 1346 and 1349, pull 1383; v4.3.0 "
        "deployments/multus-daemonset-thick.yml",
        "github.com/pytorch/ci-infra issue 1011: 405 to 512 MiB on 32 nodes; open-edge-platform/geti_v2 issue 340",
    ),
    needs=tuple(LEAST),
)
def operator_memory_too_small(container: Container) -> Iterator[Problem]:
    """Report limits below the need of a program."""
    name = short_name(container.image)
    need = LEAST.get(name)
    limit = parse_quantity(container.limits.get("memory")) if need is not None else None
    if need is None or limit is None or limit >= need.least or not _has_tag(container.image or "", need.tag):
        return
    words = (word.partition("=")[0] for word in (*container.command, *container.args))
    if any(name in need.remote for name in (*words, *(setting.name for setting in container.settings))):
        return
    yield Problem(
        container.at.child("resources", "limits", "memory"),
        f"{written(limit, 'memory')} of memory are too few for the {name}: it is killed at its start (OOMKilled)",
        f"remove the limit, or write {need.advice} or more",
    )


def _has_tag(image: str, form: str) -> bool:
    return re.fullmatch(form, tag_of(image)) is not None
