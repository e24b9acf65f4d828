"""Without peer-to-peer access GPUs of one node exchange data through host memory, and NVLink stays idle.

`NCCL_P2P_DISABLE=1`, and `NCCL_P2P_LEVEL=LOC` or 0, keep NCCL from CUDA's direct access between GPUs over NVLink and
PCIe. Every byte is then copied to host memory and back: on an NVSwitch machine hundreds of GB/s become tens, and the
run works otherwise. The variable is a way round virtual machines whose PCIe settings break peer-to-peer copies, and of
consumer cards that have none; it travels from there in copied manifests.

Containers that ask for MIG devices are left alone: they have no peer-to-peer access to lose.

Remove it. Where a copy between GPUs hangs, switch off ACS in the host's PCIe bridges.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects.environment import counts
from validator.aspects.settings import dropped
from validator.facts.strtoll import number
from validator.model import Container, Setting
from validator.rule import Context, Problem, rule

MIG = "nvidia.com/mig-"


@rule(
    code="NC032",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/nccl v2.30.7-1 docs/userguide/source/env.rst: NCCL_P2P_DISABLE, NCCL_P2P_LEVEL",
        "NVIDIA/nccl v2.30.7-1 src/graph/paths.cc: ncclGetUserP2pLevel",
    ),
    fix="unsafe",
    needs=("NCCL_P2P_DISABLE", "NCCL_P2P_LEVEL"),
)
def nccl_p2p_disabled(setting: Setting, context: Context) -> Iterator[Problem]:
    """Direct access between GPUs switched off."""
    if not counts(setting, context.container) or not _disables(setting) or _has_mig(context.container):
        return
    yield Problem(
        setting.at,
        f"{setting.name}={setting.value} takes NVLink and PCIe peer-to-peer from NCCL: GPUs copy through host memory",
        f"remove {setting.name}",
        dropped(setting),
    )


def _disables(setting: Setting) -> bool:
    if setting.name == "NCCL_P2P_DISABLE":
        return number(setting.value) == 1
    return setting.name == "NCCL_P2P_LEVEL" and (setting.value == "LOC" or number(setting.value) == 0)


def _has_mig(container: Container | None) -> bool:
    return container is not None and any(name.startswith(MIG) for name in {*container.limits, *container.requests})
