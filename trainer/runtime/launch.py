"""The place of this process in the launch, as torchrun tells it through the environment."""

from collections.abc import Mapping
from dataclasses import dataclass

from trainer.errors import ConfigError


@dataclass(frozen=True, kw_only=True, slots=True)
class Launch:
    """Ranks and sizes of a launch.

    `nodes` counts torchrun agents (its GROUP_WORLD_SIZE): on Kubernetes, pods. `launched` is false for a plain
    `python -m trainer`, which is a world of one. `keeps_store` says that the store in which the ranks meet is
    torchrun's and outlives them; `meeting` is their place in it, and empty where torch finds it by itself.
    """

    rank: int = 0
    local_rank: int = 0
    local_size: int = 1
    size: int = 1
    nodes: int = 1
    launched: bool = False
    keeps_store: bool = False
    meeting: str = ""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Launch":
        """Reads the variables that torchrun exports to each worker.

        Source: https://docs.pytorch.org/docs/stable/elastic/run.html#environment-variables

        Raises:
            ConfigError: Some are set and others missing, one is not a number, or the rank is not one of the world.
        """
        if "RANK" not in environment and "WORLD_SIZE" not in environment:
            return cls()
        for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
            if name not in environment:
                raise ConfigError(
                    f"the environment has RANK or WORLD_SIZE but not {name}: start with torchrun, which sets them all, "
                    "or unset them to train in one process"
                )
        rank, size = _integer(environment, "RANK"), _integer(environment, "WORLD_SIZE")
        if rank >= size:
            raise ConfigError(f"environment variable RANK is {rank} and must be below WORLD_SIZE, which is {size}")
        return cls(
            rank=rank,
            local_rank=_integer(environment, "LOCAL_RANK", 0),
            local_size=_integer(environment, "LOCAL_WORLD_SIZE", 1),
            size=size,
            nodes=_integer(environment, "GROUP_WORLD_SIZE", 1),
            launched=True,
            keeps_store=environment.get("TORCHELASTIC_USE_AGENT_STORE") == "True",
        )


def _integer(environment: Mapping[str, str], name: str, default: int | None = None) -> int:
    text = environment.get(name, "" if default is None else str(default))
    if not text.isdecimal():
        raise ConfigError(f"environment variable {name} must be a whole number, not {text!r}: torchrun sets it")
    return int(text)
