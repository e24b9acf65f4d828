"""`python -m trainer` and `torchrun … -m trainer`."""

import os
import sys
from collections.abc import Callable, Sequence

from trainer.config import parse_flags
from trainer.errors import TrainerError
from trainer.runtime.launch import Launch
from trainer.runtime.log import report
from trainer.runtime.signals import Termination


def main(arguments: Sequence[str]) -> int:
    """Returns the exit status: 0 trained, 1 the run failed, 2 a field or launch variable is wrong, 143 told to stop."""
    termination = Termination()
    try:
        config = parse_flags(arguments)
        launch = Launch.from_environment(os.environ)
        config.check_world_size(launch.size)
        # Imported late: torch takes seconds, in which a wrong flag would go unanswered and SIGTERM unheard.
        from trainer.loop import run

        if not (launch.launched and config.in_place_restarts and sys.platform == "linux"):
            return run(config, launch, termination)
        from trainer.parallel import strategy_of
        from trainer.runtime.guard import guarded

        strategy_of(config)

        def live(launch: Launch, have_met: Callable[[str], None]) -> int:
            return run(config, launch, Termination(), have_met)

        return guarded(launch, config.in_place_restarts, termination, live)
    except TrainerError as error:
        report(error)
        return error.exit_code


if __name__ == "__main__":
    try:
        status = main(sys.argv[1:])
    except Exception:
        status = 1
        sys.excepthook(*sys.exc_info())
    # DDP keeps gloo's threads even after the process group is destroyed, and one that lets go of a tensor while the
    # interpreter shuts down aborts the process: https://github.com/pytorch/pytorch/issues/190489
    os._exit(status)
