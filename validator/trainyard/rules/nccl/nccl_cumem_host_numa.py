"""NCCL 2.24 to 2.26.3 fails if the container runtime blocks the NUMA calls of cuMem host allocations.

With CUDA 12.6 and later these releases allocate shared buffers through CUDA's host allocations instead of `/dev/shm`,
and these need working NUMA calls. The default profile of container runtimes blocks `set_mempolicy` and similar calls
unless the container has the capability `SYS_NICE`. NCCL then fails at start with a CUDA error from its shared-memory
transport, although `/dev/shm` is large enough. Since 2.26.5 NCCL tries the allocation first and falls back to
`/dev/shm`.

The rule reports only if the target's NCCL is known to be one of these releases.

Set `NCCL_CUMEM_HOST_ENABLE` to `"0"`, add `SYS_NICE`, or move to a newer NCCL.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.nccl.releases import has_reached
from trainyard.model.run import Container

DEFAULT_SINCE = (2, 24)
FALLS_BACK_SINCE = (2, 26, 5)


@rule(
    code="NC037",
    severity="info",
    confidence="medium",
    since="0.1.0",
    sources=(
        "NVIDIA/nccl v2.30.7-1 docs/userguide/source/troubleshooting/runtime_and_mpi_issues.rst: cuMem allocations",
    ),
)
def nccl_cumem_host_numa(container: Container, context: Context) -> Iterator[Problem]:
    """Host memory through cuMem in a pod whose runtime may block NUMA calls."""
    version = context.target.nccl
    if version is None or version < DEFAULT_SINCE or has_reached(version, FALLS_BACK_SINCE) or container.gpus < 2:
        return
    allowed = {name.removeprefix("CAP_") for name in container.capabilities} & {"SYS_NICE", "ALL"}
    if allowed or container.privileged or container.setting("NCCL_CUMEM_HOST_ENABLE") is not None:
        return
    yield Problem(
        container.at.child("image"),
        f"NCCL {'.'.join(map(str, version))} needs NUMA calls for shared buffers, which the runtime may block",
        'set NCCL_CUMEM_HOST_ENABLE to "0", add the capability SYS_NICE, or use NCCL 2.26.5 or later',
    )
