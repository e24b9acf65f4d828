"""DeepSpeed ZeRO: ranks shard the optimizer (1), also the gradients (2), also the parameters (3)."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor import DTensor, Shard, distribute_tensor
from torch.nn.functional import pad

from ..config import TrainerConfig
from ..config.schema import FieldError
from ..models.model import Model
from ..runtime.distributed import World
from .adamw import MOMENTS, initial_state, parameter_groups, settings
from .compile import compile_blocks
from .loss_scale import LossScale
from .strategy import DataShard, Strategy, broadcast_weights

_BUCKET = 50_000_000  # elements; DeepSpeed's default of 500 million takes 2 GB at once
_COMPUTE_DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


class DeepSpeed(Strategy):
    """Parameters have the compute precision; the optimizer keeps its own copies in fp32.

    Gradient accumulation, loss scale and checkpoints are the trainer's own, so any other strategy can read the
    checkpoints.
    """

    state_is_copied = True

    def __init__(self, model: Model, config: TrainerConfig, world: World) -> None:
        self.model = model
        self.data_shard = DataShard(world.rank, world.size)
        self._compute = _COMPUTE_DTYPES[config.precision]
        self.scale = LossScale(enabled=config.precision == "fp16")
        self._mesh = init_device_mesh(world.device.type, (world.size,))
        self._host_mesh = DeviceMesh.from_group(self._mesh.get_group(), "cpu")
        broadcast_weights(model, world.device)
        self._parameters = dict(model.named_parameters())
        self._shares_parameters = config.zero_stage == 3
        weights = {name: parameter.detach().clone() for name, parameter in self._parameters.items()}
        if config.compile:
            compile_blocks(model, world.device)
        self._engine = _engine(model, config, world)
        self._optimizer = self._engine.optimizer
        self.groups = [self._engine.data_parallel_group]
        self._flat = self._flat_parameters()
        for flat in self._flat:
            self._optimizer.state[flat] = initial_state(flat)
        if not self._shares_parameters:
            self._optimizer._lazy_init_hp_params_optimizer_state()  # else the state is linked after the first step
        # DeepSpeed made the fp32 copies from parameters already rounded to the compute precision.
        for name, parameter in self._parameters.items():
            self._put(parameter, weights.pop(name))

    def compute(self, inputs: Tensor) -> Tensor:
        """Returns the logits of the model."""
        logits: Tensor = self._engine(inputs.to(self._compute) if inputs.is_floating_point() else inputs)
        return logits

    def backward(self, loss_sum: Tensor, global_size: int, *, last: bool) -> None:
        """Exchanges gradients after the last call (ZeRO 1) or each call (2 and 3, which never keep full gradients)."""
        if self.scale.enabled:
            self._optimizer.override_loss_scale(self.scale.value)
        self._engine.set_gradient_accumulation_boundary(last)
        self._engine.backward(loss_sum * (self.data_shard.size / global_size))

    def update(self, learning_rate: float) -> float:
        """Skips a step whose gradients are not finite."""
        for group in self._optimizer.param_groups:
            group["lr"] = learning_rate
        self.before_change()
        self._engine.step()
        norm = float(self._engine.get_global_grad_norm())
        self.scale.update(norm)
        return norm

    def state_dict(self) -> dict[str, Tensor]:
        """Returns copies in host memory, sharded over the ranks. Full tensors are gathered one at a time."""
        from deepspeed.utils import safe_get_full_fp32_param, safe_get_full_optimizer_state

        state: dict[str, Tensor] = {}
        step = self._optimizer.state[self._flat[0]]["step"]
        for name, parameter in self._parameters.items():
            state[f"model.{name}"] = self._host_shard(safe_get_full_fp32_param(parameter))
            state[f"optimizer.{name}.step"] = step.to("cpu", copy=True)
            for moment in MOMENTS:
                # Without a name, the full tensor is free before the next one is gathered.
                state[f"optimizer.{name}.{moment}"] = self._host_shard(safe_get_full_optimizer_state(parameter, moment))
        return state | {name: buffer.to("cpu", copy=True) for name, buffer in self._buffers().items()}

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Loads the state. All parameters have the same step count, whichever strategy saved it."""
        for name, parameter in self._parameters.items():
            for moment in MOMENTS:
                self._put(parameter, self._full_tensor(state[f"optimizer.{name}.{moment}"]), moment)
            self._put(parameter, self._full_tensor(state[f"model.{name}"]))
        step = state[f"optimizer.{next(iter(self._parameters))}.step"]
        for flat in self._flat:
            self._optimizer.state[flat]["step"].copy_(step)
        if not self._shares_parameters:
            self._optimizer.update_lp_params()
        for name, buffer in self._buffers().items():
            buffer.copy_(state[name])

    def _flat_parameters(self) -> list[Tensor]:
        """Returns the tensors that AdamW updates: this rank's fp32 shards, flattened."""
        if self._shares_parameters:
            return list(self._optimizer.fp32_partitioned_groups_flat)
        return [flat for group in self._optimizer.param_groups for flat in group["params"]]

    def _buffers(self) -> dict[str, Tensor]:
        known = self.model.state_dict().items()
        return {f"model.{name}": tensor for name, tensor in known if name not in self._parameters}

    def _host_shard(self, full: Tensor) -> DTensor:
        """Returns this rank's shard of a tensor, on the host: a GPU may have no room for the shards of all tensors."""
        return _moved(distribute_tensor(full, self._mesh, [Shard(0)], src_data_rank=None), self._host_mesh)

    def _full_tensor(self, tensor: Tensor) -> Tensor:
        """Gathers a tensor on the device, where that is faster."""
        return _moved(tensor, self._mesh).full_tensor() if isinstance(tensor, DTensor) else tensor

    def _put(self, parameter: Any, full: Tensor, moment: str | None = None) -> None:
        """Sets the fp32 parameter, or one of its moments."""
        from deepspeed import utils, zero

        if not self._shares_parameters:
            if moment:
                utils.safe_set_full_optimizer_state(parameter, full, moment)
            else:
                utils.safe_set_full_fp32_param(parameter, full)
            return
        # Setting the full tensor fails if the ranks' shards differ in size.
        size = parameter.ds_tensor.numel()
        padded = pad(full.flatten(), (0, size * self.data_shard.size - full.numel()))
        mine = padded[self.data_shard.rank * size :][:size]
        if moment:
            utils.safe_set_local_optimizer_state(parameter, mine, moment)
            return
        utils.safe_set_local_fp32_param(parameter, mine)
        with zero.GatheredParameters([parameter], modifier_rank=0):
            parameter.data.copy_(full)


def _engine(model: Model, config: TrainerConfig, world: World) -> Any:
    # DeepSpeed would detect these itself, with log lines.
    os.environ.setdefault("DS_ACCELERATOR", world.device.type)
    os.environ.setdefault("LOCAL_RANK", str(world.launch.local_rank))
    # DeepSpeed's logger binds to stdout at import, which would mix it into the trainer's log.
    with contextlib.redirect_stdout(sys.stderr):
        try:
            import deepspeed
        except ImportError as error:
            problem = f"deepspeed needs a missing package ({error}): run `pip install deepspeed` or write another"
            raise FieldError("strategy", problem, "fsdp2") from error
    # DeepSpeed also prints to stdout during initialization.
    with contextlib.redirect_stdout(io.StringIO()):
        # Disables DeepSpeed's own kernels: they are compiled on first use, and the image may have no compiler.
        deepspeed.ops.__compatible_ops__ = {}
        _check_precision(deepspeed, config)
        engine, *_ = deepspeed.initialize(
            model=model,
            optimizer=torch.optim.AdamW(parameter_groups(model, config), **settings(config)),
            config=_settings(config),
            dist_init_required=False,
        )
    return engine


def _check_precision(deepspeed: Any, config: TrainerConfig) -> None:
    if config.precision == "fp16" and not deepspeed.accelerator.get_accelerator().is_fp16_supported():
        raise FieldError("precision", "fp16 is not supported by DeepSpeed on this machine", "bf16")


def _settings(config: TrainerConfig) -> dict[str, Any]:
    """Returns DeepSpeed's configuration: https://www.deepspeed.ai/docs/config-json/."""
    return {
        "train_micro_batch_size_per_gpu": 1,  # required, and not used
        "gradient_accumulation_steps": 1,  # `backward` sets the accumulation boundary itself
        "gradient_clipping": config.clip_norm,
        "bf16": {"enabled": config.precision == "bf16"},
        "fp16": {"enabled": config.precision == "fp16"},
        "communication_data_type": "fp32",
        "data_types": {"grad_accum_dtype": "fp32"},
        "zero_optimization": {
            "stage": config.zero_stage,
            "reduce_bucket_size": _BUCKET,
            "allgather_bucket_size": _BUCKET,
            "offload_optimizer": {"device": config.offload},
        },
        "zero_force_ds_cpu_optimizer": False,  # its kernel would have to be compiled
    }


def _moved(tensor: DTensor, mesh: DeviceMesh) -> DTensor:
    local = tensor.to_local().to(mesh.device_type)
    return DTensor.from_local(
        local, mesh, tensor.placements, run_check=False, shape=tensor.shape, stride=tensor.stride()
    )
