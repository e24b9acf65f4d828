"""Staging: copies of a rank's tensors, so that training can change the tensors during a write."""

from __future__ import annotations

import threading
from collections.abc import MutableMapping

import torch
from torch import Tensor
from torch.distributed.tensor import DTensor


class Stager:
    """Copies tensors to CPU memory that is reused between saves, because new memory costs page faults.

    The training thread calls `begin` and `wait`; another thread calls `copy` during the next forward and backward.
    """

    def __init__(self, device: torch.device) -> None:
        self.copies: dict[str, Tensor] = {}
        self._on_gpu = device.type == "cuda"
        self._stream = torch.cuda.Stream(device) if self._on_gpu else None  # type: ignore[no-untyped-call]
        self._ordered = threading.Event()

    def begin(self) -> None:
        """Orders the next copies after all GPU work that the training thread has enqueued so far."""
        self._ordered.clear()
        if self._stream:
            self._stream.wait_stream(torch.cuda.current_stream())

    def copy(self, state: MutableMapping[str, Tensor]) -> None:
        """Copies this rank's shard of each tensor of `state` into `copies`. The copies are complete when this returns.

        In `state`, a tensor that is not sharded is replaced by its copy: the strategy may have created it for this save
        only, and it would occupy GPU memory until the write ends.
        """
        try:
            with torch.cuda.stream(self._stream):
                self.copies = {name: self._copied(name, _local(tensor)) for name, tensor in state.items()}
        finally:
            # Even after an error, because the training thread may be waiting.
            self._ordered.set()
        if self._stream:
            self._stream.synchronize()
        state.update({name: self.copies[name] for name, tensor in state.items() if not isinstance(tensor, DTensor)})

    def wait(self) -> None:
        """Waits until the tensors may change. With a GPU, the change itself waits and not this thread."""
        self._ordered.wait()
        if self._stream:
            torch.cuda.current_stream().wait_stream(self._stream)

    def _copied(self, name: str, tensor: Tensor) -> Tensor:
        kept = self.copies.get(name)
        if kept is None or kept.shape != tensor.shape or kept.dtype != tensor.dtype:
            kept = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=self._on_gpu)
        return kept.copy_(tensor, non_blocking=True)


def _local(tensor: Tensor) -> Tensor:
    part = tensor.to_local() if isinstance(tensor, DTensor) else tensor
    return part.detach()
