"""A variable puts files below /dev/shm, but no volume is mounted there.

A container has a /dev/shm of 64 MiB. Caches of models and data, such as `HF_HOME=/dev/shm/hub`, do not fit: the program
ends with `No space left on device`, or with a bus error.

The rule checks variables whose value is a path below /dev/shm, from `env` and from the script.

Mount an emptyDir with `medium: Memory` and a size limit at /dev/shm.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.resources import shared_memory
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Role
from trainyard.startup import pattern

CACHES = pattern(r"CACHE|_HOME$|_DIR$|_PATH$|^TMPDIR$")


@rule(
    code="SH016",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "containerd/containerd oci/mounts.go: /dev/shm is a tmpfs with size=65536k",
        "github.com/AI-Hypercomputer/tpu-recipes pull 295",
    ),
    needs=("dev/shm",),
)
def shm_path_without_volume(role: Role, context: Context) -> Iterator[Problem]:
    """Report paths in the default /dev/shm."""
    run = context.run
    if run is None or not has_all_pods(run):
        return
    for container in role.pod.containers:
        if not shared_memory.has_default_size(run, role, container):
            continue
        for setting in container.settings:
            if CACHES.search(setting.name) and (setting.value or "").startswith("/dev/shm"):  # noqa: S108
                yield Problem(
                    setting.at,
                    f"{setting.name} is below /dev/shm, which has 64 MiB: no volume is mounted there",
                    "mount an emptyDir with `medium: Memory` and a sizeLimit at /dev/shm",
                )
