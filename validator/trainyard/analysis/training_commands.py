"""Which of a container's commands train, and which only prepare: download, print versions, list GPUs."""

from __future__ import annotations

import functools
from collections.abc import Sequence

LAUNCHERS = frozenset(
    ("torchrun", "deepspeed", "accelerate", "mpirun", "mpiexec", "orterun", "horovodrun", "torch.distributed.run")
)
# A launcher may stand behind other programs: `numactl ... torchrun`, `python -m torch.distributed.run`.
REACH = 12
_HELPERS = ("-c", "-", "-V", "--version", "json.tool", "pip", "torch.utils.collect_env")


@functools.lru_cache(maxsize=256)
def launches(words: tuple[str, ...]) -> bool:
    """Whether a command starts a distributed launcher."""
    return any(word.rsplit("/", 1)[-1] in LAUNCHERS for word in words[:REACH])


def training(commands: Sequence[tuple[str, ...]]) -> frozenset[int]:
    """Indexes of the commands that train: those with a launcher, or else the last that runs a Python program."""
    launched = frozenset(index for index, words in enumerate(commands) if launches(words))
    programs = [index for index, words in enumerate(commands) if _runs_python(words)]
    return launched or frozenset(programs[-1:])


def _runs_python(words: Sequence[str]) -> bool:
    if not words or not words[0].rsplit("/", 1)[-1].startswith("python"):
        return False
    return len(words) > 1 and not any(word in _HELPERS for word in words[1:3])
