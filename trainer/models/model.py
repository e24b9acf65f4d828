"""The interface of models."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Literal

from torch import Tensor, nn

SplitStyle = Literal["colwise", "rowwise"]


class Model(nn.Module, ABC):
    """A model from inputs to logits, with a description of how it can be sharded."""

    @abstractmethod
    def forward(self, inputs: Tensor) -> Tensor:
        """Returns the logits of each target: (n, classes) for images, (n, context_length, vocabulary) for tokens."""

    def blocks(self) -> Sequence[nn.Module]:
        """Returns the repeated parts that hold most parameters and can be gathered one at a time."""
        return []

    def tensor_parallel_plan(self) -> Mapping[str, SplitStyle]:
        """Returns, by name, the linear layers that ranks can split: by output columns or by input rows.

        The output of a columnwise layer stays split over the ranks until a rowwise layer combines it.
        """
        return {}

    @abstractmethod
    def flops_per_sample(self) -> float:
        """Returns the floating-point operations per sample in forward and backward, without recomputation."""
