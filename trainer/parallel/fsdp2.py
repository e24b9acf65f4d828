"""FSDP2: ranks shard parameters, gradients and optimizer, and gather the parameters of one block at a time."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import cast

import torch
from torch import nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard

from .native import COMPUTE_DTYPES, NativeStrategy
from .strategy import broadcast_weights


class FSDP2(NativeStrategy):
    """Gathers each block when it is needed; parameters outside of blocks stay gathered for a full forward and backward.

    With `shard_size` below the world size it is HSDP: groups of that many ranks share one copy of the model, and the
    groups average their gradients. Rank 0's weights are broadcast block by block, so no device and no other host has to
    hold the full model.
    """

    def wrap(self) -> nn.Module:
        """Shards the model's parameters in place."""
        size = self.config.shard_size or self.world.size
        device = self.world.device.type
        if size == self.world.size:
            return self.shard(init_device_mesh(device, (size,), mesh_dim_names=("shard",)))
        mesh = init_device_mesh(device, (self.world.size // size, size), mesh_dim_names=("replicate", "shard"))
        self.groups = mesh.get_all_groups()
        return self.shard(mesh)

    def set_gradient_sync(self, enabled: bool) -> None:
        """Enables or disables the reduction; without it, gradients are kept unsharded."""
        cast(FSDPModule, self.model).set_requires_gradient_sync(enabled)

    def autocast(self) -> AbstractContextManager[object]:
        """Returns a null context: FSDP2 gathers parameters in the compute precision."""
        return nullcontext()

    def shard(self, mesh: DeviceMesh, *, weights_broadcast: bool = False) -> nn.Module:
        """Shards the parameters of each block, and those outside of blocks. Gradients are averaged in fp32.

        Rank 0's weights are broadcast first, unless `weights_broadcast` is set because that is already done.
        """
        policy = MixedPrecisionPolicy(param_dtype=COMPUTE_DTYPES.get(self.config.precision), reduce_dtype=torch.float32)
        for part in (*self.model.blocks(), self.model):
            if not weights_broadcast:
                broadcast_weights(part, self.world.device)
            fully_shard(part, mesh=mesh, mp_policy=policy)
        return self.model
