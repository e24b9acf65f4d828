"""This process's place in the launch, as torchrun sets it in the environment."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass

from ..errors import ConfigError

# Set by `trainer.launcher`: the agent goes on without its store.
OUTLIVES_STORE = "TRAINER_AGENT_OUTLIVES_STORE"
# Of Open MPI, and of MPICH and Intel MPI.
_SIZES_OF_MPI = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE")


@dataclass(frozen=True, kw_only=True, slots=True)
class Launch:
    """Ranks and sizes of a launch.

    Attributes:
        rank: Global rank.
        local_rank: Rank on this node.
        local_size: Processes on this node.
        size: World size.
        nodes: torchrun agents (GROUP_WORLD_SIZE); on Kubernetes, pods.
        min_nodes: The fewest agents of an elastic launch, from PET_NNODES; 0 if it is not known to be elastic.
        launched: False for a plain `python -m trainer`, a single process.
        has_agent_store: True if the rendezvous store belongs to the torchrun agent and so outlives the ranks.
        outlives_store: True if the agent goes on when its rendezvous store is gone.
        master_addr: Host of the store of the ranks; empty for that of the environment.
        master_port: Port of that store.
        store_prefix: Prefix of this rendezvous in the store; empty for the default store that torch finds by itself.
        rendezvous_before: The ID of the rendezvous after which these ranks start again; empty for the first one.
    """

    rank: int = 0
    local_rank: int = 0
    local_size: int = 1
    size: int = 1
    nodes: int = 1
    min_nodes: int = 0
    launched: bool = False
    has_agent_store: bool = False
    outlives_store: bool = False
    master_addr: str = ""
    master_port: int = 0
    store_prefix: str = ""
    rendezvous_before: str = ""

    @property
    def node(self) -> int:
        """The number of this node, in [0, nodes)."""
        return self.rank // self.local_size

    @property
    def is_elastic(self) -> bool:
        """True if the run can go on without one of its nodes. Each has the same number of processes."""
        return 0 < self.min_nodes < self.nodes and self.size == self.nodes * self.local_size

    @property
    def takes_over(self) -> bool:
        """True if these ranks go on without the node that had the store of the launch, and rank 0."""
        return bool(self.master_addr)

    @property
    def has_backup(self) -> bool:
        """True if the run can go on without the node of rank 0, which has the store: node 1 has another one."""
        return self.is_elastic and self.outlives_store

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Launch:
        """Reads the variables that torchrun exports to each worker.

        Source: https://docs.pytorch.org/docs/stable/elastic/run.html#environment-variables

        Raises:
            ConfigError: Some variables are missing, one is not a number, or the rank is not below the world size. Or
                mpirun has started several processes, and each would train alone.
        """
        if "RANK" not in environment and "WORLD_SIZE" not in environment:
            _check_mpirun(environment)
            return cls()
        for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
            if name not in environment:
                raise ConfigError(
                    f"the environment has RANK or WORLD_SIZE but not {name}: start with torchrun, which sets all of "
                    "them, or unset them to train in one process"
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
            min_nodes=_min_nodes(environment.get("PET_NNODES", "")),
            launched=True,
            has_agent_store=environment.get("TORCHELASTIC_USE_AGENT_STORE") == "True",
            outlives_store=OUTLIVES_STORE in environment,
        )

    def export(self, environment: MutableMapping[str, str]) -> None:
        """Writes the variables that change when nodes are lost, which libraries read."""
        environment.update(
            RANK=str(self.rank),
            WORLD_SIZE=str(self.size),
            GROUP_RANK=str(self.node),
            GROUP_WORLD_SIZE=str(self.nodes),
        )
        if self.takes_over:
            environment.update(MASTER_ADDR=self.master_addr, MASTER_PORT=str(self.master_port))


def _check_mpirun(environment: Mapping[str, str]) -> None:
    for name in _SIZES_OF_MPI:
        if environment.get(name, "1") != "1":
            raise ConfigError(
                f"mpirun has started {environment[name]} processes ({name}), but none has a RANK: start with torchrun, "
                "or set RANK, LOCAL_RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT of each"
            )


def _min_nodes(nodes: str) -> int:
    """Returns the minimum of torchrun's `minimum:maximum`; 0 for a fixed number, or what torchrun would refuse."""
    least, _, most = nodes.partition(":")
    return int(least) if least.isdecimal() and most.isdecimal() else 0


def _integer(environment: Mapping[str, str], name: str, default: int | None = None) -> int:
    text = environment.get(name, "" if default is None else str(default))
    if not text.isdecimal():
        raise ConfigError(f"environment variable {name} must be a whole number, not {text!r}: torchrun sets it")
    return int(text)
