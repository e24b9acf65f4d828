"""Folders in which libraries keep downloads and compiled code.

Sources: huggingface_hub constants.py (HF_HOME, HF_HUB_CACHE, HF_HUB_OFFLINE); transformers utils/hub.py; pytorch
torch/hub.py; triton knobs.py; vllm envs.py; docs.python.org tempfile: gettempdir.
"""

from __future__ import annotations

from trainyard.analysis.pods.settings import literal_value
from trainyard.facts.programs.hugging_face import VARIABLE_TRUE
from trainyard.model.run import Container, Pod, Volume

OF_HUB = (
    "HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "TRANSFORMERS_CACHE", "HF_DATASETS_CACHE", "HF_MODULES_CACHE",
)  # fmt: skip
OF_CODE = ("TORCH_HOME", "TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "VLLM_CACHE_ROOT", "XDG_CACHE_HOME")
ALL = (*OF_HUB, *OF_CODE)
TEMPORARY = ("/tmp", "/var/tmp", "/usr/tmp")  # noqa: S108
_OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
# Volumes of these kinds are read-only whatever the mount says.
_FIXED = frozenset(("configMap", "secret", "downwardAPI", "projected", "image"))


def is_offline(container: Container) -> bool:
    """True if the libraries of Hugging Face only read their cache."""
    values = [setting.value or "" for name in _OFFLINE if (setting := container.setting(name)) is not None]
    return any(value.lower() in VARIABLE_TRUE for value in values)


def cache_path(container: Container, name: str) -> str | None:
    """Returns the absolute path of a cache that a variable sets; None if it is not known."""
    setting = container.setting(name)
    value = literal_value(setting) if setting is not None else None
    return value if value is not None and value.startswith("/") else None


def is_fixed(volume: Volume) -> bool:
    """True if no program can write to a volume."""
    return volume.kind in _FIXED


def writable_paths(pod: Pod, container: Container) -> list[str]:
    """Returns the paths of the mounts that a container can write to."""
    found = []
    for mount in container.mounts:
        volume = pod.volume(mount.volume)
        if not mount.read_only and not (volume is not None and is_fixed(volume)):
            found.append(mount.mount_path)
    return found
