"""A multi-layer perceptron."""

from torch import Tensor, nn


class MLP(nn.Module):
    """Two linear layers with ReLU and dropout between: (batch, features) float32 to (batch, classes) logits."""

    def __init__(self, *, features: int, hidden_size: int, classes: int, dropout: float) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(features, hidden_size), nn.ReLU(), nn.Dropout(dropout), nn.Linear(hidden_size, classes)
        )

    def forward(self, inputs: Tensor) -> Tensor:
        """Logits (batch, classes) of `inputs` (batch, features)."""
        logits: Tensor = self.layers(inputs)
        return logits
