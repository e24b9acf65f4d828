"""The parts of the trainer for a training script of one's own.

`huggingface` has a callback for the Trainer of Transformers, and needs that package.
"""

from __future__ import annotations

from ..data.sampler import GlobalSampler, Step
from ..runtime.seeding import seed_step
from ..runtime.signals import SIGTERM_STATUS
from .checkpoints import Checkpoints
from .sealing import newest_sealed, seal
from .stopping import StopVote
from .watchdog import Watchdog

__all__ = [
    "SIGTERM_STATUS",
    "Checkpoints",
    "GlobalSampler",
    "Step",
    "StopVote",
    "Watchdog",
    "newest_sealed",
    "seal",
    "seed_step",
]
