"""Training: steps, evaluations and saves, in an order on which all ranks agree."""

import math
import time
from collections.abc import Iterator
from dataclasses import replace

import torch

from trainer.checkpoint.manager import CheckpointManager
from trainer.config import TrainerConfig
from trainer.data import load_data
from trainer.data.batch import Batch
from trainer.data.loader import load
from trainer.data.sampler import GlobalSampler, Step
from trainer.errors import TrainerError
from trainer.evaluation import accuracy
from trainer.metrics import sinks_of
from trainer.metrics.figures import EpochFigures, Start, StepFigures
from trainer.models import build_model
from trainer.parallel import birthplace, spread
from trainer.progress import Progress
from trainer.runtime.boundary import Boundary, Report, total_loss
from trainer.runtime.distributed import World
from trainer.runtime.log import log
from trainer.runtime.signals import Termination
from trainer.runtime.stopwatch import Stopwatch
from trainer.runtime.timeouts import shorten
from trainer.runtime.watchdog import Watchdog
from trainer.step import Stepper


class Training:
    """One rank's part of a run. Its methods are collectives."""

    def __init__(self, config: TrainerConfig, world: World, termination: Termination | None) -> None:
        self._config = config
        self._termination = termination
        self._leads = world.rank == 0
        self._data = load_data(config)
        torch.manual_seed(config.seed)
        with birthplace(world):
            model = build_model(config, shape=self._data.shape, classes=self._data.classes)
        flops = model.flops_per_sample()
        self._strategy = spread(model, config, world)
        # Groups that libraries make have limits of their own.
        shorten(config.timeout_seconds, self._strategy.groups)
        share = self._strategy.share
        self._sampler = GlobalSampler(
            num_samples=len(self._data.training),
            batch_size=config.batch_size,
            seed=config.seed,
            rank=share.rank,
            world_size=share.size,
        )
        self._boundary = Boundary(world)
        self._stopwatch = Stopwatch(world.device)
        self._checkpoints = CheckpointManager(config, world, self._strategy, self._data.fingerprint)
        self._progress = Progress()
        steps = config.epochs * -(-len(self._data.training) // config.batch_size)
        self._stepper = Stepper(
            config=config,
            strategy=self._strategy,
            device=world.device,
            stopwatch=self._stopwatch,
            before_update=self._checkpoints.before_update,
            steps=min(steps, config.steps or steps),
        )
        self._sinks = sinks_of(config, world, flops_per_sample=flops, saves=self._checkpoints.figures)
        self._watchdog = Watchdog(config, world)

    def run(self) -> bool:
        """Trains to the end, from where the newest checkpoint ends. False when a rank was told to stop: all have saved.

        Raises:
            TrainerError: A checkpoint cannot be resumed from, the loss is not finite, or the last save failed.
        """
        self._progress = self._checkpoints.resume() or self._progress
        if self._is_done():
            log(f"nothing to train: checkpoint is at epoch {self._progress.epoch} of {self._config.epochs}")
            return True
        if self._termination:
            self._termination.defer(self._config.grace_seconds)
        self._saved_at = self._stepped_at = time.monotonic()
        self._first_step = self._progress.step + 1
        self._sinks.started(self._start())
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
                self._progress = replace(self._progress, emergency_saves=self._progress.emergency_saves + 1)
                with self._watchdog.patience():
                    self._checkpoints.save(self._progress)
                    self._checkpoints.wait(required=True)
                log(f"stopped by SIGTERM: step={self._progress.step} is saved")
                return False
        with self._watchdog.patience():
            self._checkpoints.wait(required=True)
        log(
            f"finished: epochs={self._progress.epoch} loss={self._progress.loss:.4f} "
            f"test_accuracy={self._progress.test_accuracy:.4f}"
        )
        return True

    def _is_done(self) -> bool:
        limit = self._config.steps
        return self._progress.epoch >= self._config.epochs or 0 < limit <= self._progress.step

    def _start(self) -> Start:
        return Start(
            progress=self._progress,
            epochs=self._config.epochs,
            steps=self._stepper.steps,
        )

    def _train_epoch(self) -> bool:
        """The rest of the epoch that is under way, or of the run; false when told to stop."""
        begun, first = time.perf_counter(), self._progress.position
        for step, batch in self._steps():
            if not self._take(step, batch):
                return False
            if self._is_done():
                break
        seconds = time.perf_counter() - begun
        with self._watchdog.patience():
            measured = accuracy(
                self._strategy, self._data.test, self._config.batch_size, self._boundary, self._is_told_to_stop
            )
        if measured is None:
            return False
        self._finish_epoch(measured, seconds, self._progress.position - first)
        self._save()
        return True

    def _steps(self) -> Iterator[tuple[Step, Batch]]:
        """None where the run was stopped between the last step of an epoch and the end of its evaluation."""
        if self._progress.position == self._end_of_epoch():
            return
        steps = self._sampler.rest_of_epoch(self._progress.position)
        batches = load(self._data.training, steps, self._config.loader_workers)
        while True:
            with self._stopwatch.timing("data"):
                found = next(batches, None)
            if found is None:
                return
            yield found

    def _take(self, step: Step, batch: Batch) -> bool:
        """One step and what the ranks then have to say; false when one of them was told to stop."""
        number = self._progress.step + 1
        loss_sum, norm = self._stepper.take(number, step, batch)
        seconds = self._stopwatch.take()
        mine = Report(
            loss_sum=loss_sum if self._strategy.share.leads else 0.0,
            stop=self._is_told_to_stop(),
            save=self._leads and self._is_save_due(number),
            data_seconds=seconds["data"],
            forward_seconds=seconds["forward"],
            backward_seconds=seconds["backward"],
            wait_seconds=self._strategy.waited_seconds,
        )
        with self._stopwatch.timing("exchange"):
            reports = self._boundary.exchange(mine)
        total = total_loss(reports)
        if not math.isfinite(total):
            raise TrainerError(self._not_finite(number, reports))
        self._progress = replace(
            self._progress, step=number, position=step.position, loss_sum=self._progress.loss_sum + total
        )
        now = time.monotonic()
        self._sinks.stepped(
            StepFigures(
                progress=self._progress,
                samples=step.global_size,
                loss=total / step.global_size,
                learning_rate=self._stepper.rate(number),
                gradient_norm=norm,
                seconds=now - self._stepped_at,
                update_seconds=seconds["update"],
                exchange_seconds=self._stopwatch.take()["exchange"],
                checkpoint_seconds=seconds["checkpoint"],
                reports=reports,
            )
        )
        self._stepped_at = now
        self._watchdog.alive(number)
        if number == self._first_step:
            shorten(self._config.step_timeout_seconds, [self._boundary.group, *self._strategy.groups])
        if any(report.stop for report in reports):
            return False
        # At the end of an epoch there is a save anyway, once its figures are there.
        if any(report.save for report in reports) and step.position < self._end_of_epoch():
            self._save()
        return True

    def _is_told_to_stop(self) -> bool:
        return self._termination is not None and self._termination.requested

    def _end_of_epoch(self) -> int:
        return (self._progress.epoch + 1) * len(self._data.training)

    def _is_save_due(self, step: int) -> bool:
        steps, seconds = self._config.checkpoint_steps, self._config.checkpoint_seconds
        return (steps > 0 and step % steps == 0) or 0 < seconds <= time.monotonic() - self._saved_at

    def _save(self) -> None:
        with self._watchdog.patience(), self._stopwatch.timing("checkpoint"):
            self._checkpoints.save(self._progress)
        self._saved_at = time.monotonic()

    def _not_finite(self, step: int, reports: list[Report]) -> str:
        ranks = [str(rank) for rank, report in enumerate(reports) if not math.isfinite(report.loss_sum)]
        return (
            f"the loss of step {step} is not finite on rank {', '.join(ranks)}: write a --learning-rate below "
            f"{self._config.learning_rate}, or a --clip-norm; the checkpoints are from before"
        )

    def _finish_epoch(self, test_accuracy: float, seconds: float, samples: int) -> None:
        epoch, size = self._progress.epoch, len(self._data.training)
        seen = self._progress.position - epoch * size
        loss = self._progress.loss_sum / seen
        figures = EpochFigures(
            epoch=epoch + 1,
            step=self._progress.step,
            loss=loss,
            test_accuracy=test_accuracy,
            seconds=seconds,
            samples_per_second=samples / seconds,
        )
        self._progress = replace(self._progress, loss=loss, test_accuracy=test_accuracy)
        if seen == size:
            self._progress = replace(self._progress, epoch=epoch + 1, loss_sum=0.0)
        log(figures.line(self._config.epochs))
        self._sinks.epoch_done(figures)
