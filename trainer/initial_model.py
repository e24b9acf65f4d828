"""The model before the first step: random weights, or those of `init_from`."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from .checkpoint.catalog import list_checkpoints
from .config import TrainerConfig
from .errors import CheckpointError
from .models import Model, build_model
from .parallel import init_device
from .runtime.distributed import World
from .runtime.log import log


@dataclass(frozen=True, slots=True)
class InitialModel:
    """The model of a run: with weights on rank 0, and on the meta device elsewhere.

    Attributes:
        model: The model.
        is_loaded: True if its weights are those of `init_from`.
    """

    model: Model
    is_loaded: bool

    def log_origin(self, config: TrainerConfig, *, resumed: bool) -> None:
        """Logs whether the weights of `init_from` are used.

        Raises:
            CheckpointError: Neither they nor a checkpoint are.
        """
        if not config.init_from:
            return
        if resumed:
            log(f"weights of the checkpoint are used, not those of --init-from {config.init_from}")
        elif self.is_loaded:
            log(f"initial weights: {config.init_from}")
        else:
            raise CheckpointError(f"the checkpoints in {config.checkpoint_dir} vanished during the start: start again")


def build_initial_model(config: TrainerConfig, world: World, shape: tuple[int, ...], classes: int) -> InitialModel:
    """Builds the model of a run. Collective.

    A run that has checkpoints does not read `init_from`. Rank 0 reads it alone; the other ranks receive the weights by
    broadcast, as they receive random ones.

    Raises:
        ConfigError: The weights of `init_from` cannot be used.
        CheckpointError: The directory of the checkpoints cannot be listed.
    """
    loads = bool(config.init_from) and world.on_rank_zero(lambda: _starts_from_file(config))
    torch.manual_seed(config.seed)
    with torch.device("meta") if loads else init_device(world):
        model = build_model(config, shape=shape, classes=classes)
    if loads:
        # Needs safetensors, which a machine may do without.
        from .models.pretrained import load_weights

        world.on_rank_zero(lambda: load_weights(model, config))
    return InitialModel(model, loads)


def _starts_from_file(config: TrainerConfig) -> bool:
    # With `start_afresh`, the run may find that none of its checkpoints is valid.
    return config.start_afresh or not list_checkpoints(config.checkpoint_dir)
