"""A multi-layer perceptron."""

from collections.abc import Mapping

from torch import Tensor, nn

from trainer.models.model import Model, Split


class MLP(Model):
    """Two linear layers with ReLU and dropout between: (n, ...) float32 of `features` numbers each to (n, classes)."""

    def __init__(self, *, features: int, hidden_size: int, classes: int, dropout: float) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(features, hidden_size), nn.ReLU(), nn.Dropout(dropout), nn.Linear(hidden_size, classes)
        )

    def forward(self, inputs: Tensor) -> Tensor:
        """Logits (n, classes)."""
        logits: Tensor = self.layers(inputs.flatten(1))
        return logits

    def splits(self) -> Mapping[str, Split]:
        """The hidden units are shared out."""
        return {"layers.0": "columns", "layers.3": "rows"}

    def flops_per_sample(self) -> float:
        """Two for each weight and pass; nobody needs the gradient of the inputs, which saves the first layer a pass."""
        first, second = (layer.weight.numel() for layer in self.layers if isinstance(layer, nn.Linear))
        return float(4 * first + 6 * second)
