"""A run: joins its peers, says in what surroundings, trains."""

import math
import time

import torch
from torch.nn.functional import cross_entropy

from trainer.checkpoint import rng
from trainer.checkpoint.manager import CheckpointManager
from trainer.checkpoint.state import Checkpoint
from trainer.config import TrainerConfig
from trainer.data.digits import CLASSES, FEATURES, load_digits
from trainer.data.sampler import GlobalSampler
from trainer.errors import TrainerError
from trainer.metrics import exporter
from trainer.metrics.accuracy import count_correct
from trainer.metrics.epoch import EpochMetrics
from trainer.models.mlp import MLP
from trainer.parallel import ddp
from trainer.runtime.distributed import World, process_group
from trainer.runtime.launch import Launch
from trainer.runtime.log import log
from trainer.runtime.transport import describe_transport, watch_nccl


def run(config: TrainerConfig, launch: Launch) -> None:
    """Trains with the other ranks of `launch`. Every rank calls it.

    Raises:
        TrainerError: A flag does not suit this machine, or what `train` raises.
    """
    if config.metrics_port and launch.local_rank == 0:
        # Before the ranks meet: a run that never gets so far is one to be seen.
        exporter.serve(config.metrics_port)
    nccl_log = watch_nccl() if torch.cuda.is_available() else None
    with process_group(launch, config.timeout_seconds) as world:
        log(_environment_line(world, describe_transport(world, nccl_log)))
        train(config, world)


def train(config: TrainerConfig, world: World) -> None:
    """Trains until `config.epochs` are done, resuming where the newest checkpoint ends. Every rank calls it.

    Raises:
        TrainerError: A checkpoint cannot be written or resumed from, or the loss is not finite.
    """
    checkpoints = CheckpointManager(config, world)
    resumed = checkpoints.resume()
    done = resumed.epoch if resumed else 0
    if done >= config.epochs:
        log(f"nothing to train: checkpoint is at epoch {done} of {config.epochs}")
        return
    state = _State(config, world)
    if resumed:
        state.restore(resumed)
    exporter.started(done, config.epochs)
    for epoch in range(done + 1, config.epochs + 1):
        metrics = state.train_epoch(epoch)
        exporter.epoch_done(metrics)
        log(metrics.line(config.epochs))
        checkpoints.save(state.checkpoint(metrics))
        exporter.checkpoint_saved()
    log(f"finished: epochs={config.epochs} loss={metrics.loss:.4f} test_accuracy={metrics.test_accuracy:.4f}")


def build_model(config: TrainerConfig) -> MLP:
    """The model that `config` describes, with weights drawn from torch's current random state."""
    return MLP(features=FEATURES, hidden_size=config.hidden_size, classes=CLASSES, dropout=config.dropout)


def _environment_line(world: World, transport: str) -> str:
    return (
        f"trainer: backend={world.backend} world_size={world.size} transport={transport} device={world.device.type} "
        f"nodes={world.launch.nodes} torch={torch.__version__.split('+')[0]}"
    )


class _State:
    """Everything that training changes, on one rank."""

    def __init__(self, config: TrainerConfig, world: World) -> None:
        self._config = config
        self._world = world
        training, test = load_digits(config.seed)
        self._training = training.to(world.device)
        self._test = test.to(world.device)
        self._sampler = GlobalSampler(
            num_samples=len(training),
            batch_size=config.batch_size,
            seed=config.seed,
            rank=world.rank,
            world_size=world.size,
        )
        torch.manual_seed(config.seed)
        self._model = build_model(config).to(world.device)
        self._replica = ddp.replicate(self._model, world)
        self._optimizer = torch.optim.AdamW(self._model.parameters(), lr=config.learning_rate)
        rng.seed_rank(config.seed, epoch=0, rank=world.rank)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Goes back to the end of `checkpoint.epoch`."""
        self._model.load_state_dict(checkpoint.model)
        self._optimizer.load_state_dict(dict(checkpoint.optimizer))
        for group in self._optimizer.param_groups:
            group["lr"] = self._config.learning_rate  # else the flag would silently give way to the checkpoint's
        if checkpoint.world_size == self._world.size:
            rng.restore(checkpoint.rng[self._world.rank], self._world.device)
        else:
            rng.seed_rank(self._config.seed, checkpoint.epoch, self._world.rank)
            log(f"random state drawn anew: checkpoint has {checkpoint.world_size} ranks, this run {self._world.size}")

    def train_epoch(self, epoch: int) -> EpochMetrics:
        """One pass over the training samples and one over the test samples. Collective."""
        started = time.perf_counter()
        loss = self._train(epoch)
        seconds = time.perf_counter() - started
        if not math.isfinite(loss):
            raise TrainerError(
                f"the loss of epoch {epoch} is {loss}: write a --learning-rate below {self._config.learning_rate}"
            )
        return EpochMetrics(
            epoch=epoch,
            loss=loss,
            test_accuracy=self._test_accuracy(),
            seconds=seconds,
            samples_per_second=len(self._training) / seconds,
        )

    def checkpoint(self, metrics: EpochMetrics) -> Checkpoint:
        """The state at the end of the epoch that `metrics` are of. Collective."""
        return Checkpoint(
            epoch=metrics.epoch,
            loss=metrics.loss,
            test_accuracy=metrics.test_accuracy,
            world_size=self._world.size,
            config=self._config.as_json(),
            model=self._model.state_dict(),
            optimizer=self._optimizer.state_dict(),
            rng=self._world.gather(rng.capture(self._world.device)),
        )

    def _train(self, epoch: int) -> float:
        loss_sum = torch.zeros((), dtype=torch.float64, device=self._world.device)
        for step in self._sampler.epoch(epoch):
            batch = self._training.take(step.indices)
            sample_losses = cross_entropy(self._replica(batch.inputs), batch.labels, reduction="sum")
            self._optimizer.zero_grad()
            torch.autograd.backward(ddp.mean_over_ranks(sample_losses, step.global_size, self._world))
            self._optimizer.step()
            exporter.trained(step.global_size)
            loss_sum += sample_losses.detach()
        return self._world.sum([float(loss_sum)])[0] / len(self._training)

    def _test_accuracy(self) -> float:
        mine = slice(self._world.rank, None, self._world.size)
        correct = count_correct(self._model, self._test.inputs[mine], self._test.labels[mine])
        return self._world.sum([correct])[0] / len(self._test)
