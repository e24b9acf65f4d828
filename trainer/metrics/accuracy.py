"""How far a model's answers are from what they should be."""

from torch import Tensor
from torch.nn.functional import cross_entropy


def sample_losses(logits: Tensor, targets: Tensor) -> Tensor:
    """Cross entropy of each sample (n,): of images as it is, of tokens the mean over the sample's tokens.

    `logits` are (n, classes) or (n, t, classes), `targets` (n,) or (n, t).
    """
    if not len(targets):
        return logits.flatten(1).sum(dim=1)  # cross_entropy of nothing is fine, its backward through DTensors is not
    each = cross_entropy(logits.flatten(0, -2), targets.flatten(), reduction="none")
    return each.view(len(targets), -1).mean(dim=1)


def count_correct(logits: Tensor, targets: Tensor) -> float:
    """How many samples are answered right; of tokens, the share of a sample's tokens that are."""
    right = (logits.argmax(dim=-1) == targets).double()
    return float(right.flatten(1).mean(dim=1).sum() if right.dim() > 1 else right.sum())
