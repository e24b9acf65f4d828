"""Everybody who is told of a run."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from trainer.config import TrainerConfig
from trainer.metrics.console import console
from trainer.metrics.events import Events
from trainer.metrics.exporter import Exporter
from trainer.metrics.figures import EpochFigures, Saves, Sink, Start, StepFigures
from trainer.metrics.kubeflow import KubeflowStatus
from trainer.metrics.mfu import peak_flops
from trainer.metrics.pace import Pace
from trainer.metrics.profiler import Profiler
from trainer.metrics.straggler import Stragglers
from trainer.metrics.tensorboard import TensorBoard
from trainer.runtime.distributed import World
from trainer.runtime.log import note


class Sinks(Sink):
    """Tells one after the other. One that fails is named once and told no more: watching a run must not end it."""

    def __init__(self, sinks: Iterable[Sink]) -> None:
        self._sinks = list(sinks)

    def started(self, start: Start) -> None:
        """Tells all."""
        self._tell(lambda sink: sink.started(start))

    def stepped(self, figures: StepFigures) -> None:
        """Tells all."""
        self._tell(lambda sink: sink.stepped(figures))

    def epoch_done(self, figures: EpochFigures) -> None:
        """Tells all."""
        self._tell(lambda sink: sink.epoch_done(figures))

    def close(self) -> None:
        """Tells all, which is the last that they hear."""
        self._tell(lambda sink: sink.close())
        self._sinks.clear()

    def _tell(self, what: Callable[[Sink], None]) -> None:
        for sink in list(self._sinks):
            try:
                what(sink)
            # Whatever it is: a full disk, a bug in a library, a socket.
            except Exception as error:
                note(f"{type(sink).__name__} fails and is left out from now on: {type(error).__name__}: {error}")
                self._sinks.remove(sink)


def sinks_of(config: TrainerConfig, world: World, *, flops_per_sample: float, saves: Saves) -> Sinks:
    """Those that the configuration and the surroundings ask for on this rank. Collective.

    Raises:
        ConfigError: A file or folder cannot be written, or a package is missing. Every rank raises it.
    """
    pace = Pace(
        tokens_per_sample=config.context_length if config.model == "gpt" else 0,
        flops_per_sample=flops_per_sample,
        peak_flops=peak_flops(config, world),
    )
    # The first, since others ask them for what they have made of a step.
    stragglers = Stragglers()
    sinks: list[Sink] = [pace, stragglers]
    if config.metrics_port and world.launch.local_rank == 0:
        sinks.append(Exporter(world.rank, pace, stragglers, saves))
    if config.profile_dir:
        sinks.append(Profiler(Path(config.profile_dir), config.profile_steps, world.rank))
    world.from_rank_zero(lambda: sinks.extend(_of_rank_zero(config, pace, saves)))
    return Sinks(sinks)


def _of_rank_zero(config: TrainerConfig, pace: Pace, saves: Saves) -> Iterator[Sink]:
    if config.events_file:
        yield Events(Path(config.events_file), saves)
    if config.tensorboard_dir:
        yield TensorBoard(Path(config.tensorboard_dir), pace)
    if status := KubeflowStatus.from_environment(pace):
        yield status
    if shown := console(config, pace):
        yield shown
