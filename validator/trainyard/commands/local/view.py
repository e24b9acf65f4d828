"""Views of a run in the terminal: the output of all ranks, that of one rank, or a debugger."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from trainyard.commands.local.errors import RunRefusedError
from trainyard.commands.local.job import Job


class View(NamedTuple):
    """The part of a run that the terminal shows.

    Only the output of `node` is printed, and of its process `local_rank`; None: of all. All ranks then write to files
    in `logs`. If `is_debugger`, the only process has the terminal.
    """

    node: int | None = None
    local_rank: int | None = None
    logs: Path | None = None
    is_debugger: bool = False

    def torchrun_options(self, node: int) -> tuple[str, ...]:
        """Returns the options of torchrun on a node: 3 stands for both standard output and standard error."""
        if self.logs is None:
            return ()
        shown = (f"--tee={self.local_rank}:3",) if node == self.node else ()
        return (f"--log-dir={self.logs / f'node-{node}'}", "--redirects=3", *shown)


def one_rank(job: Job, rank: int, directory: Path) -> View:
    """Returns the view of one rank. Raises `RunRefusedError` if the run has no such rank, or the launcher no logs."""
    if not isinstance(job.processes, int):
        raise RunRefusedError(f"--only-rank: torchrun counts the processes ({job.processes}); add --processes-per-node")
    if rank >= job.nodes * job.processes:
        raise RunRefusedError(f"--only-rank {rank}: the ranks of this run are 0 to {job.nodes * job.processes - 1}")
    if job.launcher == "command":
        return View(node=rank)
    node, local_rank = divmod(rank, job.processes)
    if job.launcher != "accelerate":
        return View(node, local_rank, directory / "logs")
    if job.processes > 1:
        raise RunRefusedError("--only-rank: accelerate mixes the output of a node; add --processes-per-node 1")
    return View(node)
