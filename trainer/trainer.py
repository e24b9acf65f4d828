"""The training loop: steps, evaluations and checkpoints in an order that all ranks agree on."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import replace

from .checkpoint.manager import CheckpointManager
from .config import TrainerConfig
from .data import load_data
from .data.loader import BatchLoader, Read
from .data.sampler import GlobalSampler, Step
from .errors import DataError, TrainerError
from .initial_model import build_initial_model
from .last_save import LastSave
from .metrics import build_sinks
from .metrics.accuracy import distributed_score, evaluation_data
from .metrics.base import EpochMetrics, EvaluationMetrics, RunStart, Score, StepMetrics
from .parallel import parallelize, resolve_precision
from .runtime.distributed import World
from .runtime.error_file import is_of_lost_peer
from .runtime.gpu_memory import gpu_memory
from .runtime.log import log
from .runtime.signals import Termination
from .runtime.step_sync import StepReport, StepSync, total_loss
from .runtime.stopwatch import Stopwatch
from .runtime.supervision import Supervision
from .runtime.timeouts import set_collective_timeout
from .runtime.watchdog import Watchdog
from .step import Stepper
from .train_state import TrainState

# A save that takes longer than the time to the next one delays training by this time, once. The other ranks wait as
# well, so it is at most a part of what they take for a hang.
_SAVE_PATIENCE_SECONDS = 5.0
_SAVE_PATIENCE_SHARE = 0.25


class Trainer:
    """One rank of a run. All methods are collectives."""

    def __init__(
        self,
        config: TrainerConfig,
        world: World,
        termination: Termination | None,
        supervision: Supervision,
    ) -> None:
        self._config = config = resolve_precision(config, world.device)
        self._termination = termination
        self._supervision = supervision
        self._is_rank_zero = world.rank == 0
        self._world_size = world.size
        self._data = load_data(config)
        self._test = evaluation_data(config, self._data)
        self._score: Score | None = None
        self._evaluation_seconds = 0.0
        self._initial = build_initial_model(config, world, self._data.shape, self._data.classes)
        flops = self._initial.model.flops_per_sample()
        self._strategy = parallelize(self._initial.model, config, world)
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
        self._loader = BatchLoader(self._data.training, config.loader_workers, world.device)
        self._step_sync = StepSync(world)
        self._stopwatch = Stopwatch(world.device)
        self._train_state = TrainState()
        # The state that the weights of this rank belong to: within a step it is ahead of what all ranks have agreed on.
        self._own_state = self._train_state
        self._last_save = LastSave(self._save_alone, supervision)
        self._strategy.before_change = self._last_save.begin_update
        limits = [seconds for seconds in (config.hang_seconds, config.step_timeout_seconds) if seconds]
        self._save_patience = min([_SAVE_PATIENCE_SECONDS, *(_SAVE_PATIENCE_SHARE * seconds for seconds in limits)])
        # Of rank 0: a save was due while the previous one was running.
        self._is_save_late = False
        # Of all ranks: a save follows the step.
        self._is_save_agreed = False
        self._watchdog = Watchdog(
            world,
            hang_seconds=config.hang_seconds,
            timeout_seconds=config.timeout_seconds,
            dump_dir=config.dump_dir,
            state_dir=config.checkpoint_dir,
        )
        self._checkpoints = CheckpointManager(
            config,
            world,
            self._strategy,
            self._data.fingerprint,
            len(self._data.training),
            on_read=self._watchdog.alive,
        )
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
        with self._watchdog:
            found = self._checkpoints.resume()
            self._initial.log_origin(self._config, resumed=found is not None)
            self._train_state = found or self._train_state
            if self._is_done():
                log(f"nothing to train: checkpoint is at epoch {self._train_state.epoch} of {self._config.epochs}")
                return True
            return self._train()

    def _train(self) -> bool:
        if self._termination:
            self._termination.defer(self._config.grace_seconds)
        self._saved_at = self._stepped_at = time.monotonic()
        self._first_step = self._train_state.step + 1
        self._sinks.on_start(self._start())
        if self._strategy.is_replica and self._world_size > 1:
            self._supervision.serve_last_save(self._last_save.run_and_exit)
        try:
            return self._train_epochs()
        except Exception as error:
            if is_of_lost_peer(error):
                self._last_save.run()
            raise
        finally:
            self._loader.close()
            self._sinks.close()
            if self._termination:
                self._termination.release()

    def _train_epochs(self) -> bool:
        while not self._is_done():
            if not self._train_epoch():
                self._begin_last_save()
                self._train_state = replace(self._train_state, emergency_saves=self._train_state.emergency_saves + 1)
                with self._watchdog.extended_limit():
                    self._checkpoints.save(self._train_state)
                    self._checkpoints.wait(required=True)
                log(f"stopped by SIGTERM: step={self._train_state.step} is saved")
                return False
        self._begin_last_save()
        with self._watchdog.extended_limit():
            self._checkpoints.wait(required=True)
        tested = f" {self._score}" if self._score else ""
        log(f"finished: epochs={self._train_state.epoch} loss={self._train_state.loss:.4f}{tested}")
        return True

    def _begin_last_save(self) -> None:
        if self._termination:
            self._termination.save_begins()

    def _is_done(self) -> bool:
        limit = self._config.steps
        return self._train_state.epoch >= self._config.epochs or 0 < limit <= self._train_state.step

    def _start(self) -> RunStart:
        return RunStart(
            train_state=self._train_state,
            epochs=self._config.epochs,
            steps=self._stepper.steps,
            world_size=self._world_size,
        )

    def _train_epoch(self) -> bool:
        """Trains the rest of the current epoch or run; returns false after SIGTERM."""
        begun, first = time.perf_counter(), self._train_state.position
        self._evaluation_seconds = 0.0
        for step, read in self._steps():
            if not self._train_step(step, read):
                return False
            if self._is_done():
                break
        seconds = time.perf_counter() - begun - self._evaluation_seconds
        if not self._evaluate():
            return False
        self._finish_epoch(seconds, self._train_state.position - first)
        if self._is_save_agreed or self._is_done():
            self._save()
        return True

    def _evaluate(self) -> bool:
        """Evaluates the model, if there are test data; returns false after SIGTERM."""
        if self._test is None:
            return True
        begun = time.perf_counter()
        with self._watchdog.extended_limit():
            score = distributed_score(
                self._strategy, self._test, self._step_sync, self._is_told_to_stop, self._watchdog.alive
            )
        if score is None:
            return False
        seconds = time.perf_counter() - begun
        self._score = score
        self._evaluation_seconds += seconds
        self._train_state = replace(self._train_state, test_accuracy=score.accuracy)
        self._sinks.on_evaluation(EvaluationMetrics(step=self._train_state.step, score=score, seconds=seconds))
        return True

    def _steps(self) -> Iterator[tuple[Step, Read]]:
        """Yields the remaining steps of the epoch; none if the run was stopped after the epoch's last step."""
        if self._train_state.position == self._end_of_epoch():
            return
        steps = self._sampler.rest_of_epoch(self._train_state.position)
        batches = self._loader.load(steps)
        while True:
            with self._stopwatch.timing("data"):
                found = next(batches, None)
            if found is None:
                return
            yield found

    def _train_step(self, step: Step, read: Read) -> bool:
        """Takes one step and exchanges reports with the other ranks; returns false after SIGTERM on any rank."""
        number = self._train_state.step + 1
        error = read if isinstance(read, DataError) else None
        # A rank without its samples takes part in the collectives, until all ranks end the run. Nothing is saved then.
        batch = self._data.training.take(step.indices[:0]) if isinstance(read, DataError) else read
        self._own_state = self._train_state
        loss_sum, norm = self._stepper.train_step(number, step, batch)
        if math.isfinite(loss_sum) and math.isfinite(norm):
            # This rank knows only its own loss.
            self._own_state = self._state_after(number, step, loss_sum * self._strategy.data_shard.size)
        self._last_save.end_update()
        seconds = self._stopwatch.take()
        mine = StepReport(
            loss_sum=loss_sum if self._strategy.data_shard.is_leader else 0.0,
            stop=self._is_told_to_stop(),
            save=self._is_rank_zero and self._is_save_due(number, step) and self._can_save(number),
            failed=error is not None,
            data_seconds=seconds["data"],
            forward_seconds=seconds["forward"],
            backward_seconds=seconds["backward"],
            wait_seconds=self._strategy.waited_seconds,
            **gpu_memory(self._stepper.device),
        )
        with self._stopwatch.timing("exchange"):
            reports = self._step_sync.exchange(mine)
        self._step_sync.agree(reports, error)
        total = total_loss(reports)
        self._check_finite(number, total, norm, reports)
        self._train_state = self._own_state = self._state_after(number, step, total)
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
        self._supervision.step_done(number)
        if number == self._first_step:
            set_collective_timeout(self._config.step_timeout_seconds, [self._step_sync.group, *self._strategy.groups])
        self._is_save_agreed = any(report.save for report in reports)
        if any(report.stop for report in reports):
            return False
        # The end of an epoch and of the run evaluates and saves anyway, with the metrics of the epoch.
        if step.position == self._end_of_epoch() or self._is_done():
            return True
        # Before the save, so that a run that resumes from this step has been evaluated at it.
        if self._is_evaluation_due(number):
            if not self._evaluate():
                return False
            log(f"evaluated: step={number} {self._score}")
        if self._is_save_agreed:
            self._save()
        return True

    def _state_after(self, number: int, step: Step, loss_sum: float) -> TrainState:
        total = self._train_state.loss_sum + loss_sum
        return replace(self._train_state, step=number, position=step.position, loss_sum=total)

    def _save_alone(self, replaces_first: bool) -> None:
        with self._watchdog.extended_limit():
            self._checkpoints.save_alone(self._own_state, replaces_first=replaces_first)

    def _is_told_to_stop(self) -> bool:
        return self._termination is not None and self._termination.requested

    def _end_of_epoch(self) -> int:
        return (self._train_state.epoch + 1) * len(self._data.training)

    def _is_save_due(self, number: int, step: Step) -> bool:
        steps, seconds = self._config.checkpoint_steps, self._config.checkpoint_seconds
        is_scheduled = steps > 0 and number % steps == 0
        is_overdue = 0 < seconds <= time.monotonic() - self._saved_at
        return is_scheduled or is_overdue or self._is_save_late or step.position == self._end_of_epoch()

    def _can_save(self, number: int) -> bool:
        """Returns false while a slow volume delays the previous save: training goes on, and saves as soon as it can."""
        was_late = self._is_save_late
        self._is_save_late = not self._checkpoints.is_idle(within=0.0 if was_late else self._save_patience)
        if self._is_save_late and not was_late:
            log(f"checkpoint delayed: step={number} is not saved, because the save before is still running")
        return not self._is_save_late

    def _is_evaluation_due(self, step: int) -> bool:
        return self._test is not None and self._config.eval_steps > 0 and step % self._config.eval_steps == 0

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
            with self._watchdog.extended_limit():
                rejected = self._checkpoints.reject(step - 1)
            aside = f"{rejected} is set aside, because its weights gave this loss; " if rejected else ""
            raise TrainerError(
                f"the loss of step {step} is not finite on rank {', '.join(ranks)}: {advice}, or a --clip-norm; "
                f"{aside}checkpoints of earlier steps are intact"
            )
        # With fp16 a smaller loss scale is the remedy, until there is none.
        if not math.isfinite(norm) and self._strategy.scale.value <= 1:
            with self._watchdog.extended_limit():
                self._checkpoints.wait()
            raise TrainerError(
                f"the gradients of step {step} are not finite, and were not applied: look at the samples of this step, "
                f"or {advice}; all checkpoints are intact"
            )

    def _finish_epoch(self, seconds: float, samples: int) -> None:
        epoch, size = self._train_state.epoch, len(self._data.training)
        seen = self._train_state.position - epoch * size
        loss = self._train_state.loss_sum / seen
        metrics = EpochMetrics(
            epoch=epoch + 1,
            step=self._train_state.step,
            loss=loss,
            score=self._score,
            seconds=seconds,
            samples_per_second=samples / seconds,
        )
        self._train_state = replace(self._train_state, loss=loss)
        if seen == size:
            self._train_state = replace(self._train_state, epoch=epoch + 1, loss_sum=0.0)
        log(metrics.line(self._config.epochs))
        self._sinks.on_epoch_end(metrics)
