"""Tensor parallelism: ranks share each matrix of a block and compute every sample together."""

import warnings

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

from trainer.config import TrainerConfig
from trainer.config.schema import FieldError
from trainer.models.model import Model
from trainer.parallel.clipping import local
from trainer.parallel.fsdp2 import FSDP2
from trainer.parallel.strategy import Share, give_weights

_STYLES = {"columns": ColwiseParallel, "rows": RowwiseParallel}


class TensorParallel(FSDP2):
    """The ranks are a grid: those of one row share each matrix, those of one column are FSDP2's.

    Ranks of a row are neighbours, and should be on one node: they exchange activations in every block.
    """

    def wrap(self) -> nn.Module:
        """The model, its matrices and then all its parameters shared out in place."""
        check_splits(self.model, self.config)
        give_weights(self.model, self.world.device)
        columns = self.config.tensor_size
        rows = self.world.size // columns
        mesh = init_device_mesh(self.world.device.type, (rows, columns), mesh_dim_names=("data", "tensor"))
        self._data, self._tensor, self.groups = mesh["data"], mesh["tensor"], mesh.get_all_groups()
        row, column = divmod(self.world.rank, columns)
        self.share = Share(row, rows, leads=column == 0)
        styles = {name: _STYLES[split]() for name, split in self.model.splits().items()}
        parallelize_module(self.model, self._tensor, styles)
        # It is about logits that a split matrix gives, and nobody changes those in place.
        warnings.filterwarnings("ignore", "FSDP2-wrapped module .* returned a view")
        return self.shard(self._data, given=True)

    def reconcile(self, gradients: list[Tensor]) -> None:
        """Averages over a row what each of its ranks has a copy of.

        The copies are the same but for the order in which a GPU adds up, and that would make them drift apart.
        """
        copies = [local(gradient) for gradient in gradients if self._is_copy(gradient)]
        together = torch.cat([copy.flatten() for copy in copies])
        dist.all_reduce(together, group=self._tensor.get_group())
        together /= self._tensor.size()
        begin = 0
        for copy in copies:
            copy.copy_(together[begin : begin + copy.numel()].view_as(copy))
            begin += copy.numel()

    def _is_copy(self, gradient: Tensor) -> bool:
        if not isinstance(gradient, DTensor) or gradient.device_mesh == self._data:
            return True
        return gradient.placements[-1].is_replicate()


def check_splits(model: Model, config: TrainerConfig) -> None:
    """Raises FieldError unless all ranks of a row can have equal parts of each matrix."""
    if not model.splits():
        raise FieldError("strategy", f"tensor splits the matrices of mlp and gpt, not those of {config.model}", "fsdp2")
    for name in ("num_heads", "hidden_size") if config.model == "gpt" else ("hidden_size",):
        if (value := getattr(config, name)) % config.tensor_size:
            problem = f"must be a multiple of tensor_size, which is {config.tensor_size}, and {value} is not"
            raise FieldError(name, problem, config.tensor_size * max(1, value // config.tensor_size))
