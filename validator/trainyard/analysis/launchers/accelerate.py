"""Starts of Hugging Face Accelerate in a container.

Source: huggingface/accelerate 1.15.0 commands/launch.py (options and defaults) and utils/launch.py
(prepare_multi_gpu_env: it calls torchrun in its own process, with options of the same names).
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.facts.programs.launchers import launcher_in
from trainyard.model.run import Command, Container

# Options without processes that torchrun starts.
_NO_TORCHRUN = ("--cpu", "--tpu", "--use-deepspeed")


def accelerate_commands(container: Container) -> Iterator[Command]:
    """Yields every `accelerate launch`, without the training script and its arguments."""
    for launch, _ in accelerate_scripts(container):
        yield launch


def accelerate_scripts(container: Container) -> Iterator[tuple[Command, Command]]:
    """Yields every `accelerate launch`, and the script or module with its arguments; that has no words if unknown."""
    for command in container.commands:
        start = _start(command.words)
        if start is not None:
            end = _end(command.words, start)
            launch = Command(("accelerate", *command.words[start:end]), command.word_at[start - 1 : end], command.at)
            yield launch, Command(command.words[end:], command.word_at[end:], command.at)


def starts_torchrun(launch: Command, container: Container) -> bool:
    """True if the launch surely has several processes, which it starts as torchrun does."""
    if launch.has(*_NO_TORCHRUN):
        return False
    processes = launch.option("--num-processes")
    if processes is not None:
        return processes.isdecimal() and int(processes) > 1
    return launch.has("--multi-gpu") or (container.gpus or 0) > 1


def _start(words: tuple[str, ...]) -> int | None:
    """Returns the index of the first word after the program."""
    start = launcher_in(words)
    return start.after if start is not None and start.launcher.name.startswith("accelerate") else None


def _end(words: tuple[str, ...], start: int) -> int:
    """Returns the index of the training script or module; the options before it cannot be told from flags."""
    for index in range(start, len(words)):
        if words[index].endswith(".py") or words[index] in ("-m", "--module"):
            return index
    return len(words)
