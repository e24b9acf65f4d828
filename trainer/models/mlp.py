"""A multi-layer perceptron."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor, nn

from .model import Model, SplitStyle


class MLP(Model):
    """Two linear layers with ReLU and dropout in between: (n, ...) float32, `features` per sample, to (n, classes)."""

    def __init__(self, *, features: int, hidden_size: int, classes: int, dropout: float) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(features, hidden_size), nn.ReLU(), nn.Dropout(dropout), nn.Linear(hidden_size, classes)
        )

    def forward(self, inputs: Tensor) -> Tensor:
        """Returns logits (n, classes)."""
        logits: Tensor = self.layers(inputs.flatten(1))
        return logits

    def tensor_parallel_plan(self) -> Mapping[str, SplitStyle]:
        """Splits the hidden units."""
        return {"layers.0": "colwise", "layers.3": "rowwise"}

    def flops_per_sample(self) -> float:
        """Counts 2 per weight and pass. The first layer needs no gradient of its inputs, which saves a pass."""
        first, second = (layer.weight.numel() for layer in self.layers if isinstance(layer, nn.Linear))
        return float(4 * first + 6 * second)
