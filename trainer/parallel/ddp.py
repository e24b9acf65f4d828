"""DistributedDataParallel: every rank holds the whole model and gradients are averaged."""

from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from trainer.runtime.distributed import World


def replicate(model: nn.Module, world: World) -> DistributedDataParallel:
    """Replicates `model`, which is on the rank's device, with rank 0's weights on every rank."""
    on_gpu = world.device.type == "cuda"
    return DistributedDataParallel(model, device_ids=[world.device] if on_gpu else None)


def mean_over_ranks(loss_sum: Tensor, global_size: int, world: World) -> Tensor:
    """The loss to call backward on: this rank's sum of sample losses, scaled.

    DDP divides the summed gradients by the world size. A rank's own mean would therefore weigh samples of a short last
    batch by their rank; this scale makes the result the gradient of the mean over all `global_size` samples.
    """
    return loss_sum * (world.size / global_size)
