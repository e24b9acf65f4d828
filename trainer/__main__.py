"""`python -m trainer` and `torchrun … -m trainer`."""

import os
import sys
from collections.abc import Sequence

import torch

from trainer.config import TrainerConfig, parse_flags
from trainer.errors import TrainerError
from trainer.loop import train
from trainer.runtime.distributed import World, process_group
from trainer.runtime.launch import Launch
from trainer.runtime.log import log, report
from trainer.runtime.signals import exit_on_sigterm
from trainer.runtime.transport import describe_transport, watch_nccl


def main(arguments: Sequence[str]) -> int:
    """Returns the exit status: 0 trained, 1 the run failed, 2 a flag or launch variable is wrong."""
    exit_on_sigterm()
    try:
        config = parse_flags(arguments)
        launch = Launch.from_environment(os.environ)
        config.check_world_size(launch.size)
        _run(config, launch)
    except TrainerError as error:
        report(error)
        return error.exit_code
    return 0


def _run(config: TrainerConfig, launch: Launch) -> None:
    nccl_log = watch_nccl() if torch.cuda.is_available() else None
    with process_group(launch, config.timeout_seconds) as world:
        log(_environment_line(world, describe_transport(world, nccl_log)))
        train(config, world)


def _environment_line(world: World, transport: str) -> str:
    return (
        f"trainer: backend={world.backend} world_size={world.size} transport={transport} device={world.device.type} "
        f"nodes={world.launch.nodes} torch={torch.__version__.split('+')[0]}"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
