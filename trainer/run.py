"""A run: joins its peers, says in what surroundings, trains."""

from collections.abc import Callable
from pathlib import Path

import torch

from trainer.config import TrainerConfig
from trainer.metrics import exporter
from trainer.runtime import flight_recorder
from trainer.runtime.distributed import World, process_group
from trainer.runtime.launch import Launch
from trainer.runtime.log import log
from trainer.runtime.signals import STATUS, Termination
from trainer.runtime.transport import describe_transport, watch_nccl
from trainer.training import Training


def run(
    config: TrainerConfig, launch: Launch, termination: Termination, have_met: Callable[[str], None] = lambda _: None
) -> int:
    """Trains with the other ranks of `launch`. Every rank calls it. Returns the exit status.

    `have_met` is told the name of their meeting.

    Raises:
        TrainerError: A field does not suit this machine, or what `train` raises.
    """
    if config.metrics_port and launch.local_rank == 0:
        # Before the ranks meet: a run that never gets so far is one to be seen.
        exporter.serve(config.metrics_port)
    if config.dump_dir and torch.cuda.is_available():
        flight_recorder.arm(Path(config.dump_dir))
    nccl_log = watch_nccl() if torch.cuda.is_available() else None
    with process_group(launch, config.timeout_seconds) as world:
        have_met(world.meeting)
        log(_environment_line(world, describe_transport(world, nccl_log)))
        return train(config, world, termination)


def train(config: TrainerConfig, world: World, termination: Termination | None = None) -> int:
    """Trains to the end, resuming where the newest checkpoint ends. Every rank calls it.

    Returns 0 at the end, and 143 when a rank was told to stop and all have saved.

    Raises:
        TrainerError: A checkpoint cannot be written or resumed from, or the loss is not finite.
    """
    return 0 if Training(config, world, termination).run() else STATUS


def _environment_line(world: World, transport: str) -> str:
    return (
        f"trainer: backend={world.backend} world_size={world.size} transport={transport} device={world.device.type} "
        f"nodes={world.launch.nodes} torch={torch.__version__.split('+')[0]}"
    )
