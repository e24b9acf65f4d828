"""Peer-to-peer is off, so the GPUs of a node exchange data through host memory and NVLink stays idle.

`NCCL_P2P_DISABLE=1`, and `NCCL_P2P_LEVEL=LOC` or 0, keep NCCL from CUDA's direct access between GPUs over NVLink and
PCIe. Every byte is copied to host memory and back. On an NVSwitch machine hundreds of GB/s become tens, and otherwise
the run works. The variable is a workaround for virtual machines whose PCIe settings break peer-to-peer copies, and for
consumer cards without peer-to-peer; copied manifests carry it elsewhere.

The rule needs `--pedantic`: whether the GPUs of a node reach each other is not in the files. It ignores containers that
ask for MIG devices, which have no peer-to-peer access to lose.

Remove the variable. If copies between GPUs hang, turn off ACS in the host's PCIe bridges.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.environment import is_effective
from trainyard.analysis.pods.settings import remove_variable
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.nccl.strtoll import parse_integer
from trainyard.model.run import Container, Setting

MIG = "nvidia.com/mig-"


@rule(
    code="NC032",
    severity="warning",
    confidence="medium",
    since="0.1.0",
    sources=(
        "NVIDIA/nccl v2.30.7-1 docs/userguide/source/env.rst: NCCL_P2P_DISABLE, NCCL_P2P_LEVEL",
        "NVIDIA/nccl v2.30.7-1 src/graph/paths.cc: ncclGetUserP2pLevel",
    ),
    fix="unsafe",
    needs=("NCCL_P2P_DISABLE", "NCCL_P2P_LEVEL"),
)
def nccl_p2p_disabled(setting: Setting, context: Context) -> Iterator[Problem]:
    """Peer-to-peer access between GPUs is off."""
    if not is_effective(setting, context.container) or not _disables(setting) or _has_mig(context.container):
        return
    yield Problem(
        setting.at,
        f"{setting.name}={setting.value} turns off NVLink and PCIe peer-to-peer: GPUs copy through host memory",
        f"remove {setting.name}",
        remove_variable(setting),
    )


def _disables(setting: Setting) -> bool:
    if setting.name == "NCCL_P2P_DISABLE":
        return parse_integer(setting.value) == 1
    return setting.name == "NCCL_P2P_LEVEL" and (setting.value == "LOC" or parse_integer(setting.value) == 0)


def _has_mig(container: Container | None) -> bool:
    return container is not None and any(name.startswith(MIG) for name in {*container.limits, *container.requests})
