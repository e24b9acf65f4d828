"""Copies of a rank's tensors, so that the tensors may change while the copies are written."""

import threading
from collections.abc import MutableMapping

import torch
from torch import Tensor
from torch.distributed.tensor import DTensor


class Stager:
    """Copies into CPU memory that is kept from one save to the next: memory that is new costs a page fault per page.

    The training thread begins and waits; another one copies, while the next forward and backward run.
    """

    def __init__(self, device: torch.device) -> None:
        self.copies: dict[str, Tensor] = {}
        self._on_gpu = device.type == "cuda"
        self._stream = torch.cuda.Stream(device) if self._on_gpu else None  # type: ignore[no-untyped-call]
        self._ordered = threading.Event()

    def begin(self) -> None:
        """The next copies are of what the training thread has asked for until now."""
        self._ordered.clear()
        if self._stream:
            self._stream.wait_stream(torch.cuda.current_stream())

    def copy(self, state: MutableMapping[str, Tensor]) -> None:
        """Copies this rank's part of each tensor of `state` into `copies`; they are there when this returns.

        A tensor that is not spread over ranks gives way to its copy in `state`: the strategy may have made it for this
        state alone, and its memory would be missing on the GPU until the disk is done.
        """
        try:
            with torch.cuda.stream(self._stream):
                self.copies = {name: self._copied(name, _local(tensor)) for name, tensor in state.items()}
        finally:
            # Even after an error: the training thread may be waiting.
            self._ordered.set()
        if self._stream:
            self._stream.synchronize()
        state.update({name: self.copies[name] for name, tensor in state.items() if not isinstance(tensor, DTensor)})

    def wait(self) -> None:
        """Returns when the tensors may be changed. With a GPU the change itself waits, not this thread."""
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
