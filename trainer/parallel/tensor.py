"""Tensor parallelism: ranks split each matrix of a block and compute every sample together."""

from __future__ import annotations

import warnings

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

from ..config import TrainerConfig
from ..config.schema import FieldError
from ..models.model import Model
from .fsdp2 import FSDP2
from .gradients import local_tensor
from .strategy import DataShard, broadcast_weights

_STYLES = {"colwise": ColwiseParallel, "rowwise": RowwiseParallel}
# The numbers of units that the ranks of a row share.
_SPLIT = {"gpt": ("num_heads", "hidden_size", "mlp_size"), "llama": ("num_heads", "num_kv_heads", "mlp_size")}


class TensorParallel(FSDP2):
    """Arranges the ranks in a grid: tensor parallelism within a row, FSDP2 within a column.

    The ranks of a row are consecutive and should be on one node, because they exchange activations in every block.
    """

    def wrap(self) -> nn.Module:
        """Splits the matrices, then shards all parameters, in place."""
        check_divisible(self.model, self.config)
        broadcast_weights(self.model, self.world.device)
        columns = self.config.tensor_size
        rows = self.world.size // columns
        mesh = init_device_mesh(self.world.device.type, (rows, columns), mesh_dim_names=("data", "tensor"))
        self._data, self._tensor, self.groups = mesh["data"], mesh["tensor"], mesh.get_all_groups()
        row, column = divmod(self.world.rank, columns)
        self.data_shard = DataShard(row, rows, is_leader=column == 0)
        styles = {name: _STYLES[split]() for name, split in self.model.tensor_parallel_plan().items()}
        parallelize_module(self.model, self._tensor, styles)
        # The warning concerns in-place changes of the logits of a split matrix. There are none.
        warnings.filterwarnings("ignore", "FSDP2-wrapped module .* returned a view")
        return self.shard(self._data, weights_broadcast=True)

    def sync_replicated_gradients(self, gradients: list[Tensor]) -> None:
        """Averages the gradients of replicated parameters over a row.

        The order of additions on a GPU can make the copies differ slightly, and the parameters would drift apart.
        """
        copies = [local_tensor(gradient) for gradient in gradients if self._is_copy(gradient)]
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


def check_divisible(model: Model, config: TrainerConfig) -> None:
    """Raises FieldError unless each matrix can be split evenly over the ranks of a row."""
    if not model.tensor_parallel_plan():
        raise FieldError("strategy", f"tensor supports the models mlp, gpt and llama, not {config.model}", "fsdp2")
    for name in _SPLIT.get(config.model, ("hidden_size",)):
        value = config.derived_or_set(name)
        if value % config.tensor_size:
            problem = f"must be a multiple of tensor_size, which is {config.tensor_size}, and {value} is not"
            raise FieldError(name, problem, config.tensor_size * max(1, value // config.tensor_size))
