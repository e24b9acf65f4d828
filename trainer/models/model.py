"""What the strategies need to know of a model."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Literal

from torch import Tensor, nn

Split = Literal["columns", "rows"]


class Model(nn.Module, ABC):
    """A model from inputs to logits, whose parts say how they can be shared out."""

    @abstractmethod
    def forward(self, inputs: Tensor) -> Tensor:
        """Logits of each target: (n, classes) for images, (n, context_length, vocabulary) for tokens."""

    def blocks(self) -> Sequence[nn.Module]:
        """The repeated parts that hold most parameters and can be gathered one after the other."""
        return []

    def splits(self) -> Mapping[str, Split]:
        """Linear layers, by name, whose matrices ranks can share: by columns of the output or rows of the input.

        What a split by columns gives is a part of the whole on each rank, until a split by rows puts it together again.
        """
        return {}

    @abstractmethod
    def flops_per_sample(self) -> float:
        """Floating-point operations of one sample, forward and backward, without those that are computed again."""
