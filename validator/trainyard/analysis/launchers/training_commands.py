"""Tells a container's training commands from those that only prepare: download, print versions, list GPUs."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.document.lookup import decimal
from trainyard.facts.programs.launchers import MPI_LAUNCHERS, launcher_in
from trainyard.model.run import Command, Container
from trainyard.startup import pattern

# Programs that never start ranks: they list devices, measure the network from one process, print or wait.
_INERT = frozenset(
    (
        "nvidia-smi", "hl-smi", "rocm-smi", "amd-smi", "neuron-ls", "neuron-top", "dcgmi", "dcgm-exporter", "fi_info",
        "ibstat", "ibv_devinfo", "ibv_devices", "lspci", "lsmod", "ip", "ls", "cat", "echo", "printf", "date", "env",
        "printenv", "hostname", "df", "free", "sleep", "tail", "true", ":", "set", "cd", "exit", "trap", "wait", "test",
        "service", "sshd", "chmod", "mkdir", "ulimit",
        # Clients that measure a server of models, and tests of devices, each in one process.
        "genai-perf", "aiperf", "perf_analyzer", "model-analyzer", "guidellm", "trtexec", "gpu-burn", "gpu_burn",
        "nvbandwidth", "deviceQuery", "bandwidthTest", "vectorAdd",
    )
)  # fmt: skip
# Words of code that starts processes, or whose libraries do.
_PARALLEL = pattern(
    r"(?i)distributed|multiprocessing|spawn|DataLoader|num_workers|subprocess|os\.system|parallel|accelerat|deepspeed|vllm"
    r"|sglang|horovod|lightning|trainer|\bray\b|nccl|exec\(|runpy|import_module"
)
_COUNT = ("-np", "--np", "-n", "--n")
_HELPERS = ("-c", "-", "-V", "--version", "json.tool", "pip", "setup.py", "torch.utils.collect_env")


def starts_launcher(words: tuple[str, ...]) -> bool:
    """True if a command starts a distributed launcher."""
    return launcher_in(words) is not None


def training_indexes(commands: Sequence[tuple[str, ...]]) -> frozenset[int]:
    """Returns the indexes of the training commands: those with a launcher, or else the last that runs Python."""
    launched = [index for index, words in enumerate(commands) if starts_launcher(words)]
    if not launched:
        launched = [index for index, words in enumerate(commands) if _runs_python(words)][-1:]
    return frozenset(launched)


def starts_no_ranks(container: Container) -> bool:
    """True if every program that a container runs only lists devices, prints or waits."""
    programs = {command.program for command in container.commands}
    return bool(container.command and programs) and programs <= _INERT


def is_one_python_process(container: Container) -> bool:
    """True if a container runs nothing but code in its own command that starts no ranks and no loaders."""
    programs = [command for command in container.commands if command.program not in _INERT]
    return bool(programs) and all(map(_is_short_code, programs))


def _is_short_code(command: Command) -> bool:
    words = command.words
    if not command.program.startswith("python") or "-c" not in words[1:-1]:
        return False
    return _PARALLEL.search(words[words.index("-c") + 1]) is None


def _runs_python(words: Sequence[str]) -> bool:
    if not words or not words[0].rsplit("/", 1)[-1].startswith("python"):
        return False
    return len(words) > 1 and not any(word in _HELPERS for word in words[1:3])


def mpi_processes(command: Command) -> int | None:
    """Returns the number of processes that mpirun starts, None if it is not a number or not mpirun."""
    if command.program not in MPI_LAUNCHERS:
        return None
    index = next((number for number, word in enumerate(command.words) if word in _COUNT), None)
    return decimal(command.words[index + 1]) if index is not None and index + 1 < len(command.words) else None
