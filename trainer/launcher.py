"""`python -m trainer.launcher`: torchrun whose ranks start without importing PyTorch, for elastic runs that grow.

When a node joins, torchrun ends the ranks of all nodes and starts new ones. These are forks of a server here. The
server is a fork of this process, which has imported what a rank needs before the node joins. It runs nothing else, and
has neither threads nor a CUDA context, so a fork of it may use CUDA. The agent goes on without the rendezvous store, so
that its ranks can, and joins the next store. The arguments are those of torchrun, with `-m trainer`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from .__main__ import exit_status
from .errors import ConfigError
from .runtime import rank_server
from .runtime.launch import OUTLIVES_STORE
from .runtime.log import report_error

_PRELOADED = (
    "torch",
    f"{__package__}.run",
    f"{__package__}.runtime.supervisor",
    # Of the default strategy.
    f"{__package__}.parallel.ddp",
)
# Triton, which this one imports, reports its leaks when Python ends in the usual way, as it does here.
_PRELOADED_IN_SERVER = ("torch._dynamo",)


def main(arguments: Sequence[str]) -> None:
    """Runs the agent of this node.

    Raises:
        ConfigError: The program is not the trainer, there is no address to meet at, or a package forbids forks.
    """
    # Before the server starts, because its forks have its environment.
    os.environ[OUTLIVES_STORE] = "1"
    rank_server.start(_PRELOADED, in_server=_PRELOADED_IN_SERVER)
    from torch.distributed.elastic.multiprocessing.errors import record
    from torch.distributed.launcher.api import elastic_launch
    from torch.distributed.run import config_from_args, parse_args

    from .runtime import rendezvous

    options = parse_args(arguments)  # type: ignore[no-untyped-call]
    if not options.module or options.training_script != __package__:
        raise ConfigError(f"{options.training_script} is not this trainer: write `-m {__package__}`, or use torchrun")
    if not options.rdzv_endpoint:
        raise ConfigError("there is no --rdzv-endpoint to meet other nodes at: write it, or use torchrun")
    config, _, _ = config_from_args(options)
    config.start_method = rank_server.METHOD
    if config.rdzv_backend == "c10d":
        rendezvous.register()
        config.rdzv_backend = rendezvous.BACKEND
    # This node joins when it can start its ranks.
    rank_server.wait_until_ready()
    record(elastic_launch(config, run_rank))(*options.training_script_args)


def run_rank(*arguments: str) -> int:
    """Runs the trainer in this process, which was forked for it. Returns 0 at the end, and exits otherwise."""
    import torch

    rank = os.getpid()
    # The agent reads the lines as they are written.
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(write_through=True)  # type: ignore[union-attr]
    # torch has read the variable in the server, before the agent set it.
    if threads := os.environ.get("OMP_NUM_THREADS"):
        torch.set_num_threads(int(threads))
    status = exit_status(arguments)
    # The supervisor of a rank forks it once more, and that process returns here too.
    if status or os.getpid() != rank:
        os._exit(status)
    return 0


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except ConfigError as error:
        report_error(error)
        sys.exit(error.exit_code)
