"""Offloading pins host memory by default, and the container is not allowed to lock memory.

`pin_memory` of `offload_param` and `offload_optimizer` defaults to true (false up to release 0.18). Pinned pages
cannot be swapped or reclaimed, and they count in full against the container's memory limit. Where DeepSpeed locks them
itself, as for its NVMe buffers, it needs the capability `IPC_LOCK` or a raised `memlock` limit on the node, which
Kubernetes cannot set. Otherwise the offload fails or falls back to slow copies.

The rule applies where the job's container does not add `IPC_LOCK` and is not privileged.

Add the capability, or write `"pin_memory": false`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.programs.deepspeed import stage
from trainyard.model.run import DeepSpeed


@rule(
    code="DS013",
    severity="info",
    confidence="medium",
    since="0.1.0",
    sources=("deepspeedai/DeepSpeed 0.19.6 runtime/zero/offload_config.py: pin_memory of both offload sections",),
    inferred=True,
)
def ds_pinned_memory_memlock(deepspeed: DeepSpeed, context: Context) -> Iterator[Problem]:
    """Report offload with pinned memory in a container that may not lock memory."""
    roles = context.run.training_roles if context.run is not None else ()
    containers = [role.container for role in roles if role.container is not None]
    locking = all(container.privileged or "IPC_LOCK" in container.capabilities for container in containers)
    for section, lowest in (("offload_param", 3), ("offload_optimizer", 1)):
        offload = mapping(deepspeed.config, "zero_optimization", section)
        if locking or (stage(deepspeed.config) or 0) < lowest or offload.get("pin_memory") is False:
            continue
        if offload.get("device") in ("cpu", "nvme"):
            yield Problem(
                deepspeed.at.child("zero_optimization", section).key(),
                f"{section} pins host memory, but the job's container has no IPC_LOCK capability",
                'add the capability IPC_LOCK to the container, or write "pin_memory": false',
                related=((containers[0].at, "the container"),),
            )
