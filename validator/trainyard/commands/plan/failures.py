"""Checkpoints and failures: how much is saved, how often to save, and what a failure costs."""

from __future__ import annotations

import math
from typing import NamedTuple

from trainyard.commands.plan.layout import Layout
from trainyard.commands.plan.shapes import Shape

# Hours between unexpected interruptions of one GPU: 419 in 54 days on 16,384 GPUs (arXiv:2407.21783, section 3.3.4).
GPU_MTBF_HOURS = 16384 * 54 * 24 / 419
# Bytes per parameter of a checkpoint. `mixed` also has the 16-bit weights; BLOOM's has 13 (arXiv:2211.05100).
_BYTES = {"autocast": 12, "mixed": 14}


class Failures(NamedTuple):
    """Seconds, and the bytes of a checkpoint. `interval` is the best time between saves, `lost` the share of the time.

    `saves_only` is the share that saving takes, and `lost_per_failure` the seconds that a failure costs.
    """

    checkpoint: float
    save: float
    mtbf: float
    interval: float
    lost_per_failure: float
    saves_only: float
    lost: float


def checkpoint_bytes(shape: Shape, layout: Layout) -> float:
    """Returns the bytes of a checkpoint with the optimizer's state."""
    return float(shape.parameters * _BYTES[layout.state])


def young(save: float, mtbf: float) -> float:
    """Returns the best interval between saves to the first order.

    Source: Young, "A first order approximation to the optimum checkpoint interval", CACM 17(9), 1974.
    """
    return math.sqrt(2 * save * mtbf)


def daly(save: float, mtbf: float) -> float:
    """Returns the best interval between saves to a higher order, between the end of a save and the next one.

    Source: Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps", FGCS 22(3), 2006,
    equation 37.
    """
    if save >= 2 * mtbf:
        return mtbf
    ratio = save / (2 * mtbf)
    return young(save, mtbf) * (1 + math.sqrt(ratio) / 3 + ratio / 9) - save


def failures(
    checkpoint: float, gpus: int, storage: float, restart: float, gpu_mtbf_hours: float = GPU_MTBF_HOURS
) -> Failures:
    """Returns the cost of failures of a run that writes `storage` bytes per second and stops while it saves."""
    save, mtbf = checkpoint / storage, gpu_mtbf_hours * 3600 / gpus
    interval = daly(save, mtbf)
    per_failure = (interval + save) / 2 + restart
    saving = save / (interval + save)
    return Failures(
        checkpoint=checkpoint,
        save=save,
        mtbf=mtbf,
        interval=interval,
        lost_per_failure=per_failure,
        saves_only=saving,
        lost=min(1.0, saving + per_failure / mtbf),
    )
