"""NVMe offload has no writable `nvme_path`, so DeepSpeed stops.

With `"device": "nvme"` in `offload_param` or `offload_optimizer`, ZeRO stage 3 creates files below `nvme_path`. The
field has no default: without it the partitioning asserts, or joins a path with None, on every process while the model
is built. A path on a volume that is mounted read-only fails at the first write.

Stages below 3 do not offload to NVMe and are not reported, nor are paths without a mount in the files.

Set `nvme_path` to the folder where the node's NVMe disk is mounted, and mount it writable.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.mounts import mount_of
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.programs.deepspeed import stage
from trainyard.model.run import Container, DeepSpeed


@rule(
    code="DS006",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "deepspeedai/DeepSpeed 0.19.6 runtime/zero/partition_parameters.py: Init asserts that nvme_path is not None",
        "deepspeedai/DeepSpeed 0.19.6 runtime/zero/stage3.py: os.path.join(offload_optimizer_config.nvme_path, ...)",
    ),
)
def ds_nvme_path(deepspeed: DeepSpeed, context: Context) -> Iterator[Problem]:
    """Report NVMe offload without a path, or to a read-only path."""
    if stage(deepspeed.config) != 3:
        return
    roles = context.run.training_roles if context.run is not None else ()
    containers = [role.container for role in roles if role.container is not None]
    for section in ("offload_param", "offload_optimizer"):
        offload = mapping(deepspeed.config, "zero_optimization", section)
        at = deepspeed.at.child("zero_optimization", section)
        if offload.get("device") != "nvme":
            continue
        path = offload.get("nvme_path")
        if path is None:
            yield Problem(
                at.child("device"), f"{section} offloads to NVMe, but nvme_path is not set", "write nvme_path"
            )
        elif isinstance(path, str) and any(_read_only(container, path) for container in containers):
            message = (
                f"nvme_path {path} is on a volume that is mounted read-only: DeepSpeed cannot write its swap files"
            )
            yield Problem(at.child("nvme_path"), message, "mount the volume without readOnly")


def _read_only(container: Container, path: str) -> bool:
    mount = mount_of(container, path)
    return mount is not None and mount.read_only
