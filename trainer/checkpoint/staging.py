"""Staging: copies of what a rank writes, so that training can change the tensors during the write."""

from __future__ import annotations

import threading
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.distributed.tensor import DTensor

from .peers import Peers
from .plan import Plan, Plans


@dataclass(frozen=True, slots=True)
class Staged:
    """The part of a checkpoint that this rank writes: the plan, and by name its tensors or shards on the CPU."""

    plan: Plan
    copies: Mapping[str, Tensor]


class Stager:
    """Copies tensors to CPU memory that is reused between saves, because new memory costs page faults.

    A rank copies only what it will write. So the ranks together copy the state once, also if each of them holds all of
    it. The training thread calls `begin` and `wait`; another thread calls `stage` during the next forward and backward.
    """

    def __init__(self, device: torch.device, peers: Peers) -> None:
        self.copies: dict[str, Tensor] = {}
        self._on_gpu = device.type == "cuda"
        self._stream = torch.cuda.Stream(device) if self._on_gpu else None  # type: ignore[no-untyped-call]
        self._ordered = threading.Event()
        self._peers = peers
        self._plans = Plans(peers)

    def begin(self) -> None:
        """Orders the next copies after all GPU work that the training thread has enqueued so far."""
        self._ordered.clear()
        if self._stream:
            self._stream.wait_stream(torch.cuda.current_stream())

    def stage(self, state: MutableMapping[str, Tensor], *, copied: bool = False) -> Staged:
        """Copies what this rank writes of `state`. The copies are complete when this returns. Collective.

        `state` is empty afterwards: the strategy may have created tensors for this save only, and they would occupy
        memory until the write ends.

        Args:
            state: The tensors by name.
            copied: The tensors are copies in host memory already, so they are taken as they are.

        Raises:
            CheckpointError: A rank could not copy its part.
        """
        try:
            if self._stream:
                # The current device of a new thread is GPU 0. Leaving the stream below would make this process take
                # half a gigabyte of it. Source: https://github.com/pytorch/pytorch/issues/91191
                torch.cuda.set_device(self._stream.device)
            plan = self._plans.plan_for(state)
            names = plan.names
            mine = {name: _local(tensor) for name, tensor in state.items() if name in names}
            if copied:
                return Staged(plan, mine)
            self._peers.on_all_ranks(lambda: self._copy(mine))
            return Staged(plan, self.copies)
        finally:
            # Even after an error, because the training thread may be waiting.
            self._ordered.set()
            state.clear()

    def wait(self) -> None:
        """Waits until the tensors may change. With a GPU, the change itself waits and not this thread."""
        self._ordered.wait()
        if self._stream:
            torch.cuda.current_stream().wait_stream(self._stream)

    def _copy(self, mine: Mapping[str, Tensor]) -> None:
        with torch.cuda.stream(self._stream):
            self.copies = {name: self._copied(name, tensor) for name, tensor in mine.items()}
        # The training thread need not wait for the other ranks, nor on the CPU for the GPU.
        self._ordered.set()
        if self._stream:
            self._stream.synchronize()

    def _copied(self, name: str, tensor: Tensor) -> Tensor:
        kept = self.copies.get(name)
        if kept is None or kept.shape != tensor.shape or kept.dtype != tensor.dtype:
            kept = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=self._on_gpu)
        return kept.copy_(tensor, non_blocking=True)


def _local(tensor: Tensor) -> Tensor:
    part = tensor.to_local() if isinstance(tensor, DTensor) else tensor
    return part.detach()
