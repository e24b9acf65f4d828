"""The plan of a save: which rank writes which tensors. A tensor or shard that several ranks hold has one writer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor
from torch.distributed.checkpoint.default_planner import DefaultSavePlanner
from torch.distributed.checkpoint.metadata import Metadata
from torch.distributed.checkpoint.planner import SavePlan, WriteItem

from .peers import Peers


@dataclass(frozen=True, slots=True)
class Plan:
    """The tensors and shards that this rank writes. `metadata` describes those of all ranks, and only rank 0 has it."""

    items: Sequence[WriteItem]
    metadata: Metadata | None

    @property
    def names(self) -> frozenset[str]:
        """The names of the tensors that this rank writes, or a shard of them."""
        return frozenset(item.index.fqn for item in self.items)


class Plans:
    """Makes the plans of the saves of one run.

    A plan depends on the names, shapes, types and shards that every rank holds, which hardly ever change. So the last
    plan is kept, and made again only if a rank holds anything else.
    """

    def __init__(self, peers: Peers) -> None:
        self._peers = peers
        self._held: SavePlan | None = None
        self._plan = Plan((), None)

    def plan_for(self, state: Mapping[str, Tensor]) -> Plan:
        """Returns the plan for `state`. Collective.

        Raises:
            CheckpointError: What the ranks hold does not form one state.
        """
        planner = DefaultSavePlanner(flatten_state_dict=False, flatten_sharded_tensors=False)
        planner.set_up_planner(dict(state), is_coordinator=self._peers.rank == 0)
        held = planner.create_local_plan()
        known = held == self._held
        if not all(self._peers.on_all_ranks(lambda: known)):
            everywhere = self._peers.on_all_ranks(lambda: held)
            self._held = None
            # Every rank comes to the same plans, so they need not be sent back.
            self._peers.on_all_ranks(lambda: self._make(planner, everywhere))
            self._held = held
        return self._plan

    def _make(self, planner: DefaultSavePlanner, everywhere: list[SavePlan]) -> None:
        plans, metadata = planner.create_global_plan(everywhere)
        rank = self._peers.rank
        self._plan = Plan(plans[rank].items, metadata if rank == 0 else None)
