"""Several processes write their NCCL log to the same file, and each one truncates it at start.

NCCL opens `NCCL_DEBUG_FILE` for writing and creates it anew. With eight processes in a pod, seven logs are lost or
mixed with each other. On a volume that all pods share, `%p` alone is not enough, because process IDs repeat from pod to
pod. NCCL replaces `%h` with the host name, which in a pod is the pod's name, and `%p` with the process ID. NCCL does
not expand `~`: the file cannot be opened, and the log stays on standard output.

The rule ignores `/dev/stdout`, a pod with one process and its own disk, and a container without `NCCL_DEBUG`.

Put `%h` and `%p` into the file name.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.environment import role_of_ranks
from trainyard.analysis.pods.settings import change_value, literal_value
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Role, Run, Setting

# Volumes that pods on different nodes can share.
SHARED = ("persistentVolumeClaim", "nfs", "cephfs", "glusterfs", "azureFile", "csi", "flexVolume")
SILENT = ("VERSION", "NONE", "OFF", "0", "")


@rule(
    code="NC020",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/nccl v2.30.7-1 docs/userguide/source/env.rst: NCCL_DEBUG_FILE",
        'NVIDIA/nccl v2.30.7-1 src/debug.cc: ncclDebugInit opens the file with "w"',
    ),
    fix="safe",
    needs=("NCCL_DEBUG_FILE",),
)
def nccl_debug_file_collides(setting: Setting, context: Context) -> Iterator[Problem]:
    """A log file that several processes write, or that cannot be opened."""
    path = literal_value(setting) if setting.name == "NCCL_DEBUG_FILE" else None
    role, run = role_of_ranks(context), context.run
    if not path or path.startswith(("/dev/", "/proc/")) or role is None or run is None or not _logs(role, context):
        return
    if path.startswith("~"):
        yield Problem(setting.at, f"NCCL does not expand `~`: it cannot open `{path}`", "write an absolute path")
        return
    missing = _missing(path, role, run)
    if missing:
        unique = path + "".join(f".{pattern}" for pattern in missing)
        writers = "all pods" if "%h" in missing else "all processes of a pod"
        yield Problem(
            setting.at,
            f"{writers} overwrite the same file `{path}`",
            f'write "{unique}"',
            change_value(setting, unique),
        )


def _logs(role: Role, context: Context) -> bool:
    """Returns true if NCCL_DEBUG enables a log, in the container of the setting or in that of the ranks."""
    containers = [container for container in (context.container, role.container) if container is not None]
    levels = [level for container in containers if (level := container.setting("NCCL_DEBUG")) is not None]
    return any(level.value is None or level.value.strip().upper() not in SILENT for level in levels)


def _missing(path: str, role: Role, run: Run) -> list[str]:
    pods, processes = run.nodes or 1, run.processes or 1
    shared = pods > 1 and _is_shared(path, role)
    missing = ["%h"] if shared and "%h" not in path else []
    if "%p" not in path and processes > 1:
        missing.append("%p")
    return missing


def _is_shared(path: str, role: Role) -> bool:
    """Returns true if pods share the innermost volume that holds the path."""
    mounts = role.container.mounts if role.container is not None else ()
    above = [mount for mount in mounts if path.startswith(mount.mount_path.rstrip("/") + "/")]
    mount = max(above, key=lambda mount: len(mount.mount_path), default=None)
    volume = role.pod.volume(mount.volume) if mount is not None else None
    return volume is not None and volume.kind in SHARED
