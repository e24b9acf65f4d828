"""The sinks of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from ..checkpoint.metrics import CheckpointMetrics
from ..config import TrainerConfig
from ..runtime.distributed import World
from ..runtime.log import log_rank
from .base import EpochMetrics, EvaluationMetrics, RunStart, Sink, StepMetrics
from .console import build_console_sink
from .events import Events
from .exporter import Exporter
from .kubeflow import KubeflowStatus
from .mfu import peak_flops
from .mlflow import MLflow
from .productive import ProductiveTime
from .profiler import Profiler
from .straggler import Stragglers
from .tensorboard import TensorBoard
from .throughput import Throughput


class SinkGroup(Sink):
    """Forwards to each of its sinks. A sink that fails is logged and dropped: monitoring must not end a run."""

    def __init__(self, sinks: Iterable[Sink]) -> None:
        self._sinks = list(sinks)

    def on_start(self, start: RunStart) -> None:
        """Forwards to every sink."""
        self._tell(lambda sink: sink.on_start(start))

    def on_step(self, metrics: StepMetrics) -> None:
        """Forwards to every sink."""
        self._tell(lambda sink: sink.on_step(metrics))

    def on_evaluation(self, metrics: EvaluationMetrics) -> None:
        """Forwards to every sink."""
        self._tell(lambda sink: sink.on_evaluation(metrics))

    def on_epoch_end(self, metrics: EpochMetrics) -> None:
        """Forwards to every sink."""
        self._tell(lambda sink: sink.on_epoch_end(metrics))

    def close(self) -> None:
        """Closes every sink."""
        self._tell(lambda sink: sink.close())
        self._sinks.clear()

    def _tell(self, what: Callable[[Sink], None]) -> None:
        for sink in list(self._sinks):
            try:
                what(sink)
            # Any error: a full disk, a bug in a library, a socket.
            except Exception as error:
                log_rank(f"{type(sink).__name__} failed and is disabled: {type(error).__name__}: {error}")
                self._sinks.remove(sink)


def build_sinks(config: TrainerConfig, world: World, *, flops_per_sample: float, saves: CheckpointMetrics) -> SinkGroup:
    """Returns the sinks that the configuration and the environment ask for on this rank. Collective.

    Raises:
        ConfigError: A file or folder cannot be written, or a package is missing. Every rank raises it.
    """
    throughput = Throughput(
        tokens_per_sample=config.context_length if config.reads_tokens else 0,
        flops_per_sample=flops_per_sample,
        peak_flops=peak_flops(config, world),
    )
    # These come first, because other sinks read them after each step.
    stragglers = Stragglers()
    productive = ProductiveTime(Path(config.events_file)) if config.events_file and world.rank == 0 else None
    sinks: list[Sink] = [throughput, stragglers, *([productive] if productive else [])]
    if config.metrics_port and world.launch.local_rank == 0:
        sinks.append(Exporter(world.rank, throughput, stragglers, saves, productive))
    if config.profile_dir:
        sinks.append(Profiler(Path(config.profile_dir), config.profile_steps, world.rank))
    world.on_rank_zero(lambda: sinks.extend(_rank_zero_sinks(config, world.size, throughput, saves, productive)))
    return SinkGroup(sinks)


def _rank_zero_sinks(
    config: TrainerConfig,
    world_size: int,
    throughput: Throughput,
    saves: CheckpointMetrics,
    productive: ProductiveTime | None,
) -> Iterator[Sink]:
    if productive:
        yield Events(Path(config.events_file), saves, productive)
    if config.tensorboard_dir:
        yield TensorBoard(Path(config.tensorboard_dir), throughput)
    if config.mlflow_uri:
        yield MLflow(config, world_size, throughput)
    if status := KubeflowStatus.from_environment(throughput):
        yield status
    if shown := build_console_sink(config, throughput, productive):
        yield shown
