"""Classification accuracy."""

import torch
from torch import Tensor, nn


@torch.inference_mode()
def count_correct(model: nn.Module, inputs: Tensor, labels: Tensor) -> int:
    """How many of `inputs` (n, features) `model` gives their label (n,). The model's training mode stays as it was."""
    was_training = model.training
    model.eval()
    correct = int((model(inputs).argmax(dim=1) == labels).sum())
    model.train(was_training)
    return correct
