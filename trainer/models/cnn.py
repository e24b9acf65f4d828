"""A small convolutional network."""

from __future__ import annotations

from torch import Tensor, nn

from .model import Model

_CHANNELS = (16, 32)


class CNN(Model):
    """Two convolutions, a pooling layer and two linear layers: (n, height, width) float32 to (n, classes) logits."""

    def __init__(self, *, image: tuple[int, ...], hidden_size: int, classes: int, dropout: float) -> None:
        super().__init__()
        height, width = image
        self._pixels = height * width
        first, second = _CHANNELS
        self.layers = nn.Sequential(
            nn.Conv2d(1, first, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(first, second, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(second * (height // 2) * (width // 2), hidden_size),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(hidden_size, classes),
        )

    def forward(self, inputs: Tensor) -> Tensor:
        """Returns logits (n, classes)."""
        logits: Tensor = self.layers(inputs.unsqueeze(1))
        return logits

    def flops_per_sample(self) -> float:
        """Counts 2 per weight, pass and pixel of a convolution. The first one needs no gradient of its inputs."""
        first, second = (layer.weight.numel() for layer in self.layers if isinstance(layer, nn.Conv2d))
        linear = sum(layer.weight.numel() for layer in self.layers if isinstance(layer, nn.Linear))
        return float(self._pixels * (4 * first + 6 * second) + 6 * linear)
