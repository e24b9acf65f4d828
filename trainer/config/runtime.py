"""Timeouts, and the places where a run is observed."""

from __future__ import annotations

from dataclasses import dataclass

from .option import option


@dataclass(frozen=True, kw_only=True)
class RuntimeConfig:
    """Limits are in seconds. An empty path disables that output."""

    timeout_seconds: float = option(
        600.0, "timeout of a collective until the first step is done; then the run fails", at_least=1, below=1e6
    )
    step_timeout_seconds: float = option(
        120.0,
        "timeout of a collective after the first step; longer than the longest step and evaluation",
        at_least=1,
        below=1e6,
    )
    # Less than step_timeout_seconds: a collective that gives up ends the process without saying where others stand.
    hang_seconds: float = option(
        100.0,
        "watchdog after the first step: a rank without progress for N seconds dumps its stacks and exits (0: off)",
        at_least=0,
        below=1e6,
    )
    grace_seconds: float = option(
        25.0, "seconds from SIGTERM to the exit of a rank that cannot reach its save", above=0, below=1e6
    )
    in_place_restarts: int = option(3, "in-place restarts of failed ranks before torchrun takes over", at_least=0)
    lost_node_seconds: float = option(
        30.0,
        "elastic runs: go on without a node that sends no heartbeat for N seconds (0: only when a rank has failed)",
        at_least=0,
        below=1e6,
    )
    dump_dir: str = option("", "folder for the stacks and the NCCL flight records of hung ranks")
    metrics_port: int = option(
        0,
        "port of the Prometheus metrics on each node, such as 8000 (0: disabled)",
        at_least=0,
        at_most=65535,
    )
    log_steps: int = option(0, "log a progress line every N steps (0: disabled)", at_least=0)
    events_file: str = option("", "file to which rank 0 appends one JSON line per step, evaluation, epoch and save")
    tensorboard_dir: str = option("", "folder to which rank 0 writes TensorBoard events")
    mlflow_uri: str = option(
        "", "MLflow server or folder to which rank 0 logs parameters and metrics, such as http://mlflow:5000"
    )
    mlflow_experiment: str = option("trainer", "MLflow experiment of the run")
    mlflow_run: str = option("", "name of the MLflow run (default: a random name)")
    profile_dir: str = option("", "folder for profiles: on SIGUSR1 a rank writes a trace of its next steps")
    profile_steps: int = option(5, "number of steps in a trace", at_least=1)
    peak_tflops: float = option(
        0.0, "peak of one device in TFLOP/s, for the MFU (0: look it up by device name)", at_least=0
    )
