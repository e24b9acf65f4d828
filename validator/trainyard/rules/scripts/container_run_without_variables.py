"""The script sets a variable for the ranks, and `docker run` does not hand it on to the container.

`docker run`, `podman run` and `nerdctl run` give a container the variables of its image, and those of `-e`, `--env` and
`--env-file` alone. `export NCCL_SOCKET_IFNAME=...` in front of them changes nothing inside: NCCL uses its defaults, and
only a slow or hanging run tells so.

The rule checks variables that NCCL, libfabric, UCX and PyTorch read, in scripts that start their launcher in the
container and nowhere else.

Add `-e NAME` to the command.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.engine.rule import Problem, rule
from trainyard.facts.programs.launchers import SRUN, launcher_in
from trainyard.model.run import Command, Container

_ENGINES = ("docker", "podman", "nerdctl")
_OF_RANKS = ("NCCL_", "TORCH_NCCL_", "FI_", "UCX_", "GLOO_", "RDMAV_", "OFI_NCCL_", "NVSHMEM_", "RCCL_")
_FILES = ("--env-file", "--env-host", "--env-merge")


@rule(
    code="SC031",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "docs.docker.com/reference/cli/docker/container/run: --env, --env-file",
        "docs.podman.io: podman-run, --env, --env-host",
        "github.com/ROCm/MAD pull 228",
    ),
    needs=_ENGINES,
)
def container_run_without_variables(container: Container) -> Iterator[Problem]:
    """Report variables that do not reach the container."""
    runs = [command for command in container.commands if _start(command)]
    others = [one for one in container.commands if not _start(one) and launcher_in(_behind_srun(one)) is not None]
    if len(runs) != 1 or others:
        return
    words = runs[0].words[_start(runs[0]) - 1 :]
    written = " ".join(words)
    if any(word.partition("=")[0] in _FILES for word in words) or "$" in "".join(_alone(words)):
        return
    for setting in container.settings:
        if setting.via == "script" and setting.name.startswith(_OF_RANKS) and setting.name not in written:
            yield Problem(
                setting.at,
                f"{words[0]} run does not hand {setting.name} on: the ranks in the container do not get it",
                f"add `-e {setting.name}` to the command",
            )


def _start(command: Command) -> int:
    """Returns the number of the word `docker` in front of `run`, counted from 1; 0 if no training starts there."""
    words = command.words
    for index, word in enumerate(words[:-1]):
        if word.rsplit("/", 1)[-1] in _ENGINES and words[index + 1] == "run":
            return index + 1 if _trains(words[index:]) else 0
    return 0


def _trains(words: tuple[str, ...]) -> bool:
    text = " ".join(words)
    names = ("torchrun", "torch.distributed", "deepspeed", "accelerate", "python", "all_reduce_perf", "mpirun")
    return any(name in text for name in names)


def _behind_srun(command: Command) -> tuple[str, ...]:
    return command.words[1:] if command.program == SRUN else command.words


def _alone(words: tuple[str, ...]) -> Iterator[str]:
    """Yields the words that are one variable: they may hold options."""
    return (word for word in words if word.startswith("$") and "=" not in word)
