"""The training loop: steps, evaluations and checkpoints in an order that all ranks agree on."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import replace

import torch

from trainer.checkpoint.manager import CheckpointManager
from trainer.config import TrainerConfig
from trainer.data import load_data
from trainer.data.batch import Batch
from trainer.data.loader import load_batches
from trainer.data.sampler import GlobalSampler, Step
from trainer.errors import TrainerError
from trainer.metrics import build_sinks
from trainer.metrics.accuracy import distributed_accuracy
from trainer.metrics.base import EpochMetrics, RunStart, StepMetrics
from trainer.models import build_model
from trainer.parallel import init_device, parallelize
from trainer.runtime.distributed import World
from trainer.runtime.log import log
from trainer.runtime.signals import Termination
from trainer.runtime.step_sync import StepReport, StepSync, total_loss
from trainer.runtime.stopwatch import Stopwatch
from trainer.runtime.timeouts import set_collective_timeout
from trainer.runtime.watchdog import Watchdog
from trainer.step import Stepper
from trainer.train_state import TrainState


class Trainer:
    """One rank of a run. All methods are collectives."""

    def __init__(self, config: TrainerConfig, world: World, termination: Termination | None) -> None:
        self._config = config
        self._termination = termination
        self._is_rank_zero = world.rank == 0
        self._data = load_data(config)
        torch.manual_seed(config.seed)
        with init_device(world):
            model = build_model(config, shape=self._data.shape, classes=self._data.classes)
        flops = model.flops_per_sample()
        self._strategy = parallelize(model, config, world)
        # Process groups made by libraries have their own timeouts.
        set_collective_timeout(config.timeout_seconds, self._strategy.groups)
        share = self._strategy.data_shard
        self._sampler = GlobalSampler(
            num_samples=len(self._data.training),
            batch_size=config.batch_size,
            seed=config.seed,
            rank=share.rank,
            world_size=share.size,
        )
        self._step_sync = StepSync(world)
        self._stopwatch = Stopwatch(world.device)
        self._checkpoints = CheckpointManager(config, world, self._strategy, self._data.fingerprint)
        self._train_state = TrainState()
        self._watchdog = Watchdog(config, world)
        steps = config.epochs * -(-len(self._data.training) // config.batch_size)
        self._stepper = Stepper(
            config=config,
            strategy=self._strategy,
            device=world.device,
            stopwatch=self._stopwatch,
            on_part=self._watchdog.alive,
            before_update=self._checkpoints.wait_for_staging,
            steps=min(steps, config.steps or steps),
        )
        self._sinks = build_sinks(config, world, flops_per_sample=flops, saves=self._checkpoints.metrics)

    def run(self) -> bool:
        """Trains to the end, resuming from the newest checkpoint.

        Returns:
            True at the end; false after SIGTERM on any rank, once all ranks have saved.

        Raises:
            TrainerError: A checkpoint cannot be resumed from, the loss is not finite, or the last save failed.
        """
        self._train_state = self._checkpoints.resume() or self._train_state
        if self._is_done():
            log(f"nothing to train: checkpoint is at epoch {self._train_state.epoch} of {self._config.epochs}")
            return True
        if self._termination:
            self._termination.defer(self._config.grace_seconds)
        self._saved_at = self._stepped_at = time.monotonic()
        self._first_step = self._train_state.step + 1
        self._sinks.on_start(self._start())
        try:
            with self._watchdog:
                finished = self._train()
        finally:
            self._sinks.close()
            if self._termination:
                self._termination.release()
        return finished

    def _train(self) -> bool:
        while not self._is_done():
            if not self._train_epoch():
                self._train_state = replace(self._train_state, emergency_saves=self._train_state.emergency_saves + 1)
                with self._watchdog.extended_limit():
                    self._checkpoints.save(self._train_state)
                    self._checkpoints.wait(required=True)
                log(f"stopped by SIGTERM: step={self._train_state.step} is saved")
                return False
        with self._watchdog.extended_limit():
            self._checkpoints.wait(required=True)
        log(
            f"finished: epochs={self._train_state.epoch} loss={self._train_state.loss:.4f} "
            f"test_accuracy={self._train_state.test_accuracy:.4f}"
        )
        return True

    def _is_done(self) -> bool:
        limit = self._config.steps
        return self._train_state.epoch >= self._config.epochs or 0 < limit <= self._train_state.step

    def _start(self) -> RunStart:
        return RunStart(
            train_state=self._train_state,
            epochs=self._config.epochs,
            steps=self._stepper.steps,
        )

    def _train_epoch(self) -> bool:
        """Trains the rest of the current epoch or run; returns false after SIGTERM."""
        begun, first = time.perf_counter(), self._train_state.position
        for step, batch in self._steps():
            if not self._train_step(step, batch):
                return False
            if self._is_done():
                break
        seconds = time.perf_counter() - begun
        with self._watchdog.extended_limit():
            measured = distributed_accuracy(
                self._strategy,
                self._data.test,
                self._config.batch_size,
                self._step_sync,
                self._is_told_to_stop,
                self._watchdog.alive,
            )
        if measured is None:
            return False
        self._finish_epoch(measured, seconds, self._train_state.position - first)
        self._save()
        return True

    def _steps(self) -> Iterator[tuple[Step, Batch]]:
        """Yields the remaining steps of the epoch; none if the run was stopped after the epoch's last step."""
        if self._train_state.position == self._end_of_epoch():
            return
        steps = self._sampler.rest_of_epoch(self._train_state.position)
        batches = load_batches(self._data.training, steps, self._config.loader_workers)
        while True:
            with self._stopwatch.timing("data"):
                found = next(batches, None)
            if found is None:
                return
            yield found

    def _train_step(self, step: Step, batch: Batch) -> bool:
        """Takes one step and exchanges reports with the other ranks; returns false after SIGTERM on any rank."""
        number = self._train_state.step + 1
        loss_sum, norm = self._stepper.train_step(number, step, batch)
        seconds = self._stopwatch.take()
        mine = StepReport(
            loss_sum=loss_sum if self._strategy.data_shard.is_leader else 0.0,
            stop=self._is_told_to_stop(),
            save=self._is_rank_zero and self._is_save_due(number),
            data_seconds=seconds["data"],
            forward_seconds=seconds["forward"],
            backward_seconds=seconds["backward"],
            wait_seconds=self._strategy.waited_seconds,
        )
        with self._stopwatch.timing("exchange"):
            reports = self._step_sync.exchange(mine)
        total = total_loss(reports)
        self._check_finite(number, total, norm, reports)
        self._train_state = replace(
            self._train_state, step=number, position=step.position, loss_sum=self._train_state.loss_sum + total
        )
        now = time.monotonic()
        self._sinks.on_step(
            StepMetrics(
                train_state=self._train_state,
                samples=step.global_size,
                loss=total / step.global_size,
                learning_rate=self._stepper.learning_rate(number),
                gradient_norm=norm,
                seconds=now - self._stepped_at,
                update_seconds=seconds["update"],
                exchange_seconds=self._stopwatch.take()["exchange"],
                checkpoint_seconds=seconds["checkpoint"],
                reports=reports,
            )
        )
        self._stepped_at = now
        self._watchdog.step_done(number)
        if number == self._first_step:
            set_collective_timeout(self._config.step_timeout_seconds, [self._step_sync.group, *self._strategy.groups])
        if any(report.stop for report in reports):
            return False
        # The end of an epoch saves anyway, with the metrics of the epoch.
        if any(report.save for report in reports) and step.position < self._end_of_epoch():
            self._save()
        return True

    def _is_told_to_stop(self) -> bool:
        return self._termination is not None and self._termination.requested

    def _end_of_epoch(self) -> int:
        return (self._train_state.epoch + 1) * len(self._data.training)

    def _is_save_due(self, step: int) -> bool:
        steps, seconds = self._config.checkpoint_steps, self._config.checkpoint_seconds
        return (steps > 0 and step % steps == 0) or 0 < seconds <= time.monotonic() - self._saved_at

    def _save(self) -> None:
        with self._watchdog.extended_limit(), self._stopwatch.timing("checkpoint"):
            self._checkpoints.save(self._train_state)
        self._saved_at = time.monotonic()

    def _check_finite(self, step: int, loss: float, norm: float, reports: list[StepReport]) -> None:
        """Raises TrainerError if the loss or the gradients are not finite, once the running save has ended."""
        advice = f"write a --learning-rate below {self._config.learning_rate}"
        if not math.isfinite(loss):
            ranks = [str(rank) for rank, report in enumerate(reports) if not math.isfinite(report.loss_sum)]
            # The weights after the previous step gave this loss, and may be in a checkpoint.
            rejected = self._checkpoints.reject(step - 1)
            aside = f"{rejected} is set aside, because its weights gave this loss; " if rejected else ""
            raise TrainerError(
                f"the loss of step {step} is not finite on rank {', '.join(ranks)}: {advice}, or a --clip-norm; "
                f"{aside}checkpoints of earlier steps are intact"
            )
        # With fp16 a smaller loss scale is the remedy, until there is none.
        if not math.isfinite(norm) and self._strategy.scale.value <= 1:
            self._checkpoints.wait()
            raise TrainerError(
                f"the gradients of step {step} are not finite, and were not applied: look at the samples of this step, "
                f"or {advice}; all checkpoints are intact"
            )

    def _finish_epoch(self, test_accuracy: float, seconds: float, samples: int) -> None:
        epoch, size = self._train_state.epoch, len(self._data.training)
        seen = self._train_state.position - epoch * size
        loss = self._train_state.loss_sum / seen
        metrics = EpochMetrics(
            epoch=epoch + 1,
            step=self._train_state.step,
            loss=loss,
            test_accuracy=test_accuracy,
            seconds=seconds,
            samples_per_second=samples / seconds,
        )
        self._train_state = replace(self._train_state, loss=loss, test_accuracy=test_accuracy)
        if seen == size:
            self._train_state = replace(self._train_state, epoch=epoch + 1, loss_sum=0.0)
        log(metrics.line(self._config.epochs))
        self._sinks.on_epoch_end(metrics)
