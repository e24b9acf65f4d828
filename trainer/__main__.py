"""The command line: `python -m trainer`, or `torchrun … -m trainer`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from .config import parse_flags
from .errors import TrainerError
from .runtime.error_file import clear_recorded_error, record_error, record_exception
from .runtime.file_limit import raise_file_limit
from .runtime.imports import no_garbage_collection
from .runtime.launch import Launch
from .runtime.log import report_error
from .runtime.signals import Termination


def main(arguments: Sequence[str]) -> int:
    """Runs the trainer.

    Returns:
        The exit status: 0 trained, 1 the run failed, 2 a field or launch variable is wrong, 143 stopped by SIGTERM.
    """
    termination = Termination()
    raise_file_limit()
    try:
        config = parse_flags(arguments)
        launch = Launch.from_environment(os.environ)
        config.check_world_size(launch.size)
        # Imported late: importing torch takes seconds, which would delay errors about flags and a reaction to SIGTERM.
        with no_garbage_collection():
            import torch._dynamo  # noqa: F401 - the first optimizer imports it

            from .parallel import strategy_class
            from .run import run

            strategy_class(config)
        if not (launch.launched and config.in_place_restarts and sys.platform == "linux"):
            return run(config, launch, termination)
        from .runtime.supervision import Supervision
        from .runtime.supervisor import supervise

        def run_rank(launch: Launch, supervision: Supervision) -> int:
            clear_recorded_error()
            return run(config, launch, Termination(), supervision)

        return supervise(
            launch,
            termination,
            run_rank,
            restarts=config.in_place_restarts,
            lost_node_seconds=config.lost_node_seconds,
        )
    except TrainerError as error:
        record_error(f"trainer: error: {error}")
        report_error(error)
        return error.exit_code


def exit_status(arguments: Sequence[str]) -> int:
    """Runs the trainer and returns its exit status also after an exception, which it prints and records."""
    try:
        return main(arguments)
    except Exception as error:
        record_exception(error)
        sys.excepthook(*sys.exc_info())
        return 1


if __name__ == "__main__":
    # DDP's gloo threads outlive the process group. If one of them frees a tensor while the interpreter shuts down, the
    # process aborts: https://github.com/pytorch/pytorch/issues/190489
    os._exit(exit_status(sys.argv[1:]))
