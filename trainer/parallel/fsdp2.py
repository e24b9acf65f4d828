"""FSDP2: ranks share parameters, gradients and optimizer, and gather the parameters of one block at a time."""

from contextlib import AbstractContextManager, nullcontext
from typing import cast

import torch
from torch import nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard

from trainer.parallel.native import COMPUTE, NativeStrategy
from trainer.parallel.strategy import give_weights


class FSDP2(NativeStrategy):
    """Each block is gathered when it is needed, and what belongs to no block for the whole of a forward and backward.

    With `shard_size` below the world size it is HSDP: groups of that many ranks share one copy of the model, and the
    groups average their gradients. Rank 0's weights go to every rank at the start, a block at a time: no device, and no
    other host, has to hold the whole model.
    """

    def wrap(self) -> nn.Module:
        """The model, its parameters shared out in place."""
        size = self.config.shard_size or self.world.size
        device = self.world.device.type
        if size == self.world.size:
            return self.shard(init_device_mesh(device, (size,), mesh_dim_names=("shard",)))
        mesh = init_device_mesh(device, (self.world.size // size, size), mesh_dim_names=("replicate", "shard"))
        self.groups = mesh.get_all_groups()
        return self.shard(mesh)

    def exchange(self, wanted: bool) -> None:
        """Without, gradients are kept whole."""
        cast(FSDPModule, self.model).set_requires_gradient_sync(wanted)

    def computing(self) -> AbstractContextManager[object]:
        """Nothing is left to cast: parameters are gathered in the precision of the computation."""
        return nullcontext()

    def shard(self, mesh: DeviceMesh, *, given: bool = False) -> nn.Module:
        """Shares out the parameters of each block, and those of none, once rank 0's weights are `given`.

        Gradients are averaged in fp32.
        """
        policy = MixedPrecisionPolicy(param_dtype=COMPUTE.get(self.config.precision), reduce_dtype=torch.float32)
        for part in (*self.model.blocks(), self.model):
            if not given:
                give_weights(part, self.world.device)
            fully_shard(part, mesh=mesh, mp_policy=policy)
        return self.model
