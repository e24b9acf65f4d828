"""How long things may take, and where a run is seen."""

from dataclasses import dataclass

from trainer.config.option import option


@dataclass(frozen=True, kw_only=True)
class RuntimeConfig:
    """Limits are in seconds. Files and folders that are not said are not written."""

    timeout_seconds: float = option(
        600.0, "until the first step is done, a collective that takes longer fails the run", at_least=1, below=1e6
    )
    step_timeout_seconds: float = option(
        120.0, "the same after the first step; more than the longest step and evaluation", at_least=1, below=1e6
    )
    # Less than step_timeout_seconds: a collective that gives up ends the process without saying where others stand.
    hang_seconds: float = option(
        100.0,
        "after the first step, a rank that does nothing for so long says where it stands and ends; 0 is never",
        at_least=0,
        below=1e6,
    )
    grace_seconds: float = option(
        25.0, "after SIGTERM a rank that does not get to save ends so many seconds later", above=0, below=1e6
    )
    in_place_restarts: int = option(
        3, "so often the ranks start again by themselves when one is killed, before it is up to torchrun", at_least=0
    )
    dump_dir: str = option("", "folder for stacks and NCCL's flight records of ranks that hang")
    metrics_port: int = option(
        0,
        "port on which one process of each node serves Prometheus metrics, such as 8000; 0 is none",
        at_least=0,
        at_most=65535,
    )
    log_steps: int = option(0, "write a line of progress every so many steps; 0 is none", at_least=0)
    events_file: str = option("", "file to which rank 0 appends a line of JSON for each step, epoch and save")
    tensorboard_dir: str = option("", "folder to which rank 0 writes TensorBoard's events")
    profile_dir: str = option("", "folder to which a rank that gets SIGUSR1 writes a trace of its next steps")
    profile_steps: int = option(5, "steps in such a trace", at_least=1)
    peak_tflops: float = option(
        0.0, "peak of one rank's device in 1e12 operations a second, for the MFU; 0 looks it up by name", at_least=0
    )
