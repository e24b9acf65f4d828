"""`NCCL_SHM_DISABLE=1` sends traffic between GPUs of one node through the network adapter.

NCCL uses shared memory if two GPUs of a node have no peer-to-peer path. That is the case across CPU sockets on machines
without NVSwitch, and in most virtual machines. Without shared memory such pairs send their data to the network adapter
and back, over InfiniBand or even TCP. The variable is a known workaround for `unable to allocate shared memory` with
the default `/dev/shm` of 64 MiB, and it costs bandwidth on every step.

The rule needs `--pedantic`: whether all GPUs of a node reach each other is not in the files. It ignores containers with
`NCCL_MNNVL_ENABLE=1`: vendors of multi-node NVLink systems ask for both together. It also ignores pods with one GPU, in
which no two ranks could share memory.

Remove the variable and give the pod a memory-backed `/dev/shm` of 1 GiB for each GPU.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.environment import is_effective, value_of
from trainyard.analysis.pods.settings import remove_variable
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.nccl.strtoll import parse_integer
from trainyard.facts.profiles import asks_for
from trainyard.model.run import Container, Run, Setting


@rule(
    code="NC031",
    severity="warning",
    confidence="medium",
    since="0.1.0",
    sources=(
        "NVIDIA/nccl v2.30.7-1 docs/userguide/source/env.rst: NCCL_SHM_DISABLE",
        "NVIDIA/nccl issue 525: shared memory segments and the size of /dev/shm",
    ),
    fix="unsafe",
    needs=("NCCL_SHM_DISABLE",),
)
def nccl_shm_disabled(setting: Setting, context: Context) -> Iterator[Problem]:
    """Shared memory is off."""
    container = context.container
    if setting.name != "NCCL_SHM_DISABLE" or parse_integer(setting.value) != 1 or container is None:
        return
    if not is_effective(setting, container) or asks_for(context.profile, setting.name):
        return
    if parse_integer(value_of(container, "NCCL_MNNVL_ENABLE")) == 1 or _is_alone(container, context.run):
        return
    yield Problem(
        setting.at,
        "NCCL_SHM_DISABLE=1: GPUs of one node without a peer-to-peer path exchange data through the network adapter",
        "remove NCCL_SHM_DISABLE and make /dev/shm large enough",
        remove_variable(setting),
    )


def _is_alone(container: Container, run: Run | None) -> bool:
    """True if each pod has one rank."""
    return container.gpus == 1 or (run is not None and run.kind == "MPIJob" and run.spec.get("slotsPerWorker") == 1)
