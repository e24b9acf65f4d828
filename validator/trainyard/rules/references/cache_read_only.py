"""The folder of a cache is mounted read-only, and the library that owns it writes there.

The libraries of Hugging Face create folders and locks in `HF_HOME` with every download, and check for newer files
online even if the model is there. Triton and TorchInductor write compiled code. They fail with "Read-only file
system". ConfigMaps and Secrets are read-only whatever the mount says.

A filled cache of Hugging Face may stay read-only with `HF_HUB_OFFLINE=1`.

Remove `readOnly` from the mount, put the cache on another volume, or set `HF_HUB_OFFLINE=1`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis import caches
from trainyard.analysis.claims import is_claim_read_only
from trainyard.analysis.mounts import mount_of
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Setting


@rule(
    code="RF026",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "huggingface_hub file_download.py: locks and folders of the cache; constants.py: HF_HUB_OFFLINE",
        "github.com/huggingface/huggingface_hub issue 3394",
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
    if mount is None or volume is None or (setting.name in caches.OF_HUB and caches.is_offline(container)):
        return
    if mount.read_only or caches.is_fixed(volume) or is_claim_read_only(volume):
        hint = ", or set `HF_HUB_OFFLINE=1`" if setting.name in caches.OF_HUB else ""
        yield Problem(
            setting.at,
            f"{setting.name} is `{path}` on volume `{volume.name}`, which is read-only: writing to the cache fails",
            f"mount a writable volume there{hint}",
            related=((mount.at, "the read-only mount"),),
        )
