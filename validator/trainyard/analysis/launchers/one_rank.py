"""Containers that start one script of Python without a launcher: one rank, however many GPUs they have."""

from __future__ import annotations

from trainyard.facts.programs.launchers import BY_NAME, launcher_in
from trainyard.model.run import Command, Container, Run
from trainyard.startup import pattern

# Words of options and scripts that start a process for each GPU themselves.
_STARTING = pattern(
    r"(?i)gpu|device|proc|spawn|lightning|launch|distribut|ngpus|accelerator|strategy|deepspeed|fsdp|\bfit\b"
)
_VARIABLES = ("FORCE_TORCHRUN", "NPROC_PER_NODE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "CUDA_VISIBLE_DEVICES")
# Commands that run another one.
_WRAPPERS = ("time", "exec", "nice", "env")


def script_of_one_rank(container: Container) -> str:
    """Returns the script that is the only program of a container, and one process; empty if it may start more."""
    if len(container.commands) != 1:
        return ""
    command = container.commands[0]
    script = _script(command)
    written = " ".join((*container.command, *container.args))
    if not script or launcher_in(command.words) or _STARTING.search(written):
        return ""
    if any(name in written for name in BY_NAME) or any(container.setting(name) is not None for name in _VARIABLES):
        return ""
    return script


def is_one_rank(container: Container, run: Run | None) -> bool:
    """True if the operator of PyTorchJobs gives the container one rank, and its program starts no other."""
    if run is None or run.kind != "PyTorchJob" or run.spec.get("nprocPerNode") is not None or run.elastic:
        return False
    return bool(script_of_one_rank(container))


def _script(command: Command) -> str:
    words = command.words[1:] if command.program in _WRAPPERS else command.words
    if not words or not words[0].rsplit("/", 1)[-1].startswith("python"):
        return ""
    script = next((word for word in words[1:] if not word.startswith("-")), "")
    return script if script.endswith(".py") else ""
