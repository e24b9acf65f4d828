"""DeepSpeed's ZeRO: ranks share the optimizer (1), gradients too (2), parameters too (3)."""

import contextlib
import io
import os
import sys
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Shard, distribute_tensor
from torch.nn.functional import pad

from trainer.config import TrainerConfig
from trainer.config.schema import FieldError
from trainer.models.model import Model
from trainer.parallel.adamw import MOMENTS, nothing_yet
from trainer.parallel.compiling import compile_blocks
from trainer.parallel.scaling import LossScale
from trainer.parallel.strategy import Share, Strategy, give_weights
from trainer.runtime.distributed import World

_BUCKET = 50_000_000  # numbers; DeepSpeed's own 500 million take 2 GB at once
_COMPUTE = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


class DeepSpeed(Strategy):
    """Parameters are in the precision of the computation, and the optimizer has its own in fp32.

    Accumulation and the scale of the loss are the trainer's, and so are checkpoints: any other strategy can read them.
    """

    def __init__(self, model: Model, config: TrainerConfig, world: World) -> None:
        self.model = model
        self.share = Share(world.rank, world.size)
        self._compute = _COMPUTE[config.precision]
        self.scale = LossScale(wanted=config.precision == "fp16")
        self._mesh = init_device_mesh(world.device.type, (world.size,))
        give_weights(model, world.device)
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
            self._optimizer.state[flat] = nothing_yet(flat)
        if not self._shares_parameters:
            self._optimizer._lazy_init_hp_params_optimizer_state()  # else it finds the state after the first step
        # The optimizer's have come from those in the precision of the computation.
        for name, parameter in self._parameters.items():
            self._put(parameter, weights.pop(name))

    def compute(self, inputs: Tensor) -> Tensor:
        """Logits as the model gives them."""
        logits: Tensor = self._engine(inputs.to(self._compute) if inputs.is_floating_point() else inputs)
        return logits

    def backward(self, loss_sum: Tensor, global_size: int, *, last: bool) -> None:
        """ZeRO 1 exchanges gradients after the last one, 2 and 3 after each: no rank of theirs keeps them whole."""
        if self.scale.wanted:
            self._optimizer.override_loss_scale(self.scale.value)
        self._engine.set_gradient_accumulation_boundary(last)
        self._engine.backward(loss_sum * (self.share.size / global_size))

    def update(self, learning_rate: float) -> float:
        """A step whose gradients are not finite is left out."""
        for group in self._optimizer.param_groups:
            group["lr"] = learning_rate
        self._engine.step()
        norm = float(self._engine.get_global_grad_norm())
        self.scale.learn(norm)
        return norm

    def state(self) -> dict[str, Tensor]:
        """Copies, of which each rank has its share: a whole parameter is gathered one at a time."""
        from deepspeed.utils import safe_get_full_fp32_param, safe_get_full_optimizer_state

        state: dict[str, Tensor] = {}
        step = self._optimizer.state[self._flat[0]]["step"]
        for name, parameter in self._parameters.items():
            state[f"model.{name}"] = self._shared(safe_get_full_fp32_param(parameter))
            state[f"optimizer.{name}.step"] = step.clone()
            for moment in MOMENTS:
                whole = safe_get_full_optimizer_state(parameter, moment)
                state[f"optimizer.{name}.{moment}"] = self._shared(whole)
        return state | self._buffers()

    def load(self, state: Mapping[str, Tensor]) -> None:
        """All parameters took equally many steps, whoever took them."""
        for name, parameter in self._parameters.items():
            for moment in MOMENTS:
                self._put(parameter, _whole(state[f"optimizer.{name}.{moment}"]), moment)
            self._put(parameter, _whole(state[f"model.{name}"]))
        step = state[f"optimizer.{next(iter(self._parameters))}.step"]
        for flat in self._flat:
            self._optimizer.state[flat]["step"].copy_(step)
        if not self._shares_parameters:
            self._optimizer.update_lp_params()
        for name, buffer in self._buffers().items():
            buffer.copy_(state[name])

    def _flat_parameters(self) -> list[Tensor]:
        """What AdamW works on: this rank's shares in fp32, many in one tensor."""
        if self._shares_parameters:
            return list(self._optimizer.fp32_partitioned_groups_flat)
        return [flat for group in self._optimizer.param_groups for flat in group["params"]]

    def _buffers(self) -> dict[str, Tensor]:
        known = self.model.state_dict().items()
        return {f"model.{name}": tensor for name, tensor in known if name not in self._parameters}

    def _shared(self, whole: Tensor) -> DTensor:
        return distribute_tensor(whole, self._mesh, [Shard(0)], src_data_rank=None)

    def _put(self, parameter: Any, whole: Tensor, moment: str | None = None) -> None:
        """Sets the fp32 parameter, or a moment of it."""
        from deepspeed import utils, zero

        if not self._shares_parameters:
            if moment:
                utils.safe_set_full_optimizer_state(parameter, whole, moment)
            else:
                utils.safe_set_full_fp32_param(parameter, whole)
            return
        # Setting them whole fails where the ranks' shares are not of equal size.
        size = parameter.ds_tensor.numel()
        mine = pad(whole.flatten(), (0, size * self.share.size - whole.numel()))[self.share.rank * size :][:size]
        if moment:
            utils.safe_set_local_optimizer_state(parameter, mine, moment)
            return
        utils.safe_set_local_fp32_param(parameter, mine)
        with zero.GatheredParameters([parameter], modifier_rank=0):
            parameter.data.copy_(whole)


def _engine(model: Model, config: TrainerConfig, world: World) -> Any:
    # It would find out by itself, and say so in the log.
    os.environ.setdefault("DS_ACCELERATOR", world.device.type)
    os.environ.setdefault("LOCAL_RANK", str(world.launch.local_rank))
    # Its logger writes to what is stdout when it is imported, which is the trainer's own log.
    with contextlib.redirect_stdout(sys.stderr):
        try:
            import deepspeed
        except ImportError as error:
            problem = f"deepspeed needs a package that is not here ({error}): write `pip install deepspeed`, or another"
            raise FieldError("strategy", problem, "fsdp2") from error
    # And what it prints is of interest to its authors.
    with contextlib.redirect_stdout(io.StringIO()):
        # None of its own kernels: they would be compiled when first used, and an image need not have a compiler.
        deepspeed.ops.__compatible_ops__ = {}
        _check_precision(deepspeed, config)
        engine, *_ = deepspeed.initialize(
            model=model,
            optimizer=torch.optim.AdamW(
                model.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay, fused=True
            ),
            config=_settings(config),
            dist_init_required=False,
        )
    return engine


def _check_precision(deepspeed: Any, config: TrainerConfig) -> None:
    if config.precision == "fp16" and not deepspeed.accelerator.get_accelerator().is_fp16_supported():
        raise FieldError("precision", "fp16 is not for this machine, says DeepSpeed", "bf16")


def _settings(config: TrainerConfig) -> dict[str, Any]:
    """DeepSpeed's configuration: https://www.deepspeed.ai/docs/config-json/."""
    return {
        "train_micro_batch_size_per_gpu": 1,  # wanted, and used by nothing
        "gradient_accumulation_steps": 1,  # `backward` says itself which is the last
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
        "zero_force_ds_cpu_optimizer": False,  # it is one of the kernels to be compiled
    }


def _whole(tensor: Tensor) -> Tensor:
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor
