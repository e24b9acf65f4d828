"""One run: joins the process group, logs the environment and trains."""

from __future__ import annotations

from pathlib import Path

import torch

from .config import TrainerConfig
from .metrics import exporter
from .parallel import resolve_precision
from .runtime import flight_recorder
from .runtime.distributed import World, process_group
from .runtime.launch import Launch
from .runtime.log import log
from .runtime.signals import SIGTERM_STATUS, Termination
from .runtime.supervision import UNSUPERVISED, Supervision
from .runtime.transport import describe_transport, transport_advice, watch_nccl
from .trainer import Trainer


def run(
    config: TrainerConfig,
    launch: Launch,
    termination: Termination,
    supervision: Supervision = UNSUPERVISED,
) -> int:
    """Trains together with the other ranks of `launch`. Collective.

    Args:
        config: The configuration of the run.
        launch: This process's place in the launch.
        termination: The SIGTERM handler.
        supervision: What this rank tells its supervisor, if it has one.

    Returns:
        The exit status.

    Raises:
        TrainerError: A field does not suit this machine, or `train` raised it.
    """
    if config.metrics_port and launch.local_rank == 0:
        # Before the rendezvous, so that a run that is stuck there is visible to Prometheus.
        exporter.serve_metrics(config.metrics_port)
    if config.dump_dir and torch.cuda.is_available():
        flight_recorder.enable(Path(config.dump_dir))
    nccl_log = watch_nccl() if torch.cuda.is_available() else None
    with process_group(launch, config.timeout_seconds) as world:
        supervision.joined(world.rendezvous_id)
        log(_environment_line(world, describe_transport(world, nccl_log), resolve_precision(config, world.device)))
        if advice := transport_advice(world, nccl_log):
            log(advice)
        return train(config, world, termination, supervision)


def train(
    config: TrainerConfig,
    world: World,
    termination: Termination | None = None,
    supervision: Supervision = UNSUPERVISED,
) -> int:
    """Trains to the end, resuming from the newest checkpoint. Collective.

    Returns:
        0 at the end, 143 after SIGTERM on any rank, once all ranks have saved.

    Raises:
        TrainerError: A checkpoint cannot be written or resumed from, or the loss is not finite.
    """
    return 0 if Trainer(config, world, termination, supervision).run() else SIGTERM_STATUS


def _environment_line(world: World, transport: str, config: TrainerConfig) -> str:
    precision = "tf32" if config.tf32 and config.precision == "fp32" else config.precision
    return (
        f"trainer: backend={world.backend} world_size={world.size} transport={transport} device={world.device.type} "
        f"nodes={world.launch.nodes} torch={torch.__version__.split('+')[0]} precision={precision}"
    )
