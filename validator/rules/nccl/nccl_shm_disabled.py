"""With `NCCL_SHM_DISABLE=1` GPUs of one node that cannot reach each other directly talk through the network card.

NCCL uses shared memory where two GPUs of a node have no peer-to-peer path, which is the case across CPU sockets on
machines without NVSwitch, and in most virtual machines. Without it such pairs send their data to the network adapter
and back, over InfiniBand or even TCP. The variable is a known way round `unable to allocate shared memory` when
`/dev/shm` has its default of 64 MiB, and costs bandwidth on every step from then on.

Containers with `NCCL_MNNVL_ENABLE=1` are left alone: vendors of multi-node NVLink systems ask for both together.

Remove it and give the pod a memory-backed `/dev/shm` of 1 GiB for each GPU.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects.environment import counts, value_of
from validator.aspects.settings import dropped
from validator.facts.profiles import asks_for
from validator.facts.strtoll import number
from validator.model import Setting
from validator.rule import Context, Problem, rule


@rule(
    code="NC031",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/nccl v2.30.7-1 docs/userguide/source/env.rst: NCCL_SHM_DISABLE",
        "NVIDIA/nccl issue 525: shared memory segments and the size of /dev/shm",
    ),
    fix="unsafe",
    needs=("NCCL_SHM_DISABLE",),
)
def nccl_shm_disabled(setting: Setting, context: Context) -> Iterator[Problem]:
    """Shared memory switched off."""
    container = context.container
    if setting.name != "NCCL_SHM_DISABLE" or number(setting.value) != 1 or container is None:
        return
    if not counts(setting, container) or asks_for(context.profile, setting.name):
        return
    if number(value_of(container, "NCCL_MNNVL_ENABLE")) == 1:
        return
    yield Problem(
        setting.at,
        "GPUs of one node without a peer-to-peer path exchange data through the network instead of shared memory",
        "remove NCCL_SHM_DISABLE and make /dev/shm large enough",
        dropped(setting),
    )
