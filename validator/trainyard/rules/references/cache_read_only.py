"""The folder of a cache is on a read-only volume, and the library that owns it writes there.

Triton, TorchInductor and vLLM write compiled code into their caches, and fail with "Read-only file system". ConfigMaps
and Secrets are read-only whatever the mount says, also for models of Hugging Face.

A cache of Hugging Face that another pod has filled may be mounted read-only: the libraries only read it then.

Remove `readOnly` from the mount, or put the cache on another volume.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.claims import is_claim_read_only
from trainyard.analysis.pods import caches
from trainyard.analysis.pods.mounts import mount_of
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Setting


@rule(
    code="RF026",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes v1.34.4 pkg/volume/configmap and secret: read-only volumes",
        "triton python/triton/runtime/cache.py: FileCacheManager.put; pytorch torch/_inductor/codecache.py",
    ),
    needs=("HF_", "TRANSFORMERS_CACHE", "HUGGINGFACE_HUB_CACHE", "TORCH", "TRITON_CACHE", "_CACHE_"),
)
def cache_read_only(setting: Setting, context: Context) -> Iterator[Problem]:
    """Report caches on read-only mounts."""
    container, pod = context.container, context.pod
    if setting.name not in caches.ALL or container is None or pod is None:
        return
    path = caches.cache_path(container, setting.name)
    mount = mount_of(container, path) if path is not None else None
    volume = pod.volume(mount.volume) if mount is not None else None
    if mount is None or volume is None or "image" in volume.kind:
        return
    is_mounted_so = setting.name not in caches.OF_HUB and (mount.read_only or is_claim_read_only(volume))
    if is_mounted_so or caches.is_fixed(volume):
        yield Problem(
            setting.at,
            f"{setting.name} is `{path}` on volume `{volume.name}`, which is read-only: writing to the cache fails",
            "mount a writable volume there",
            related=((mount.at, "the read-only mount"),),
        )
