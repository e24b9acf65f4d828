"""The container requests MIG devices of several kinds and sees those of one only.

Each kind has a device plugin of its own, and each passes its devices in the variable `NVIDIA_VISIBLE_DEVICES`: the last
one wins. The devices of the other kinds stay allocated and unused. A process of CUDA can use one MIG device anyway.

Request one kind of device for each container.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import format_list
from trainyard.facts.kubernetes.quantities import parse_quantity
from trainyard.model.run import Container

PREFIX = "nvidia.com/mig-"


@rule(
    code="RS017",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "github.com/NVIDIA/k8s-device-plugin issue 728: every plugin sets NVIDIA_VISIBLE_DEVICES",
        "docs.nvidia.com/datacenter/tesla/mig-user-guide: CUDA applications use one MIG device",
    ),
    needs=(PREFIX,),
)
def mig_kinds_mixed(container: Container) -> Iterator[Problem]:
    """Report containers with MIG devices of several kinds."""
    kinds = [name for name in container.limits if _is_device(name) and parse_quantity(container.limits[name])]
    if len(kinds) > 1 and any(name.startswith(PREFIX) for name in kinds):
        yield Problem(
            container.at.child("resources", "limits", kinds[-1]).key(),
            f"{container.name} requests {format_list(kinds)}, and sees the devices of one kind only",
            "request one kind of device for each container",
        )


def _is_device(name: str) -> bool:
    return name.startswith(PREFIX) or name == "nvidia.com/gpu"
