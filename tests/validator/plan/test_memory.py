"""The memory of a rank against PyTorch's own accounting, for the models of the reference trainer."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from trainer.config import ModelConfig
from trainer.models import Model, build_model
from trainyard.commands.plan.configs import shape_of_trainer
from trainyard.commands.plan.layout import Layout
from trainyard.commands.plan.memory import ACCURACY, Memory, activation_numbers, memory
from trainyard.commands.plan.shapes import Shape

VOCABULARY, CONTEXT, SAMPLES = 512, 128, 4
CASES: dict[str, dict[str, Any]] = {
    "gpt": {"model": "gpt", "hidden_size": 128, "num_layers": 6, "num_heads": 4, "dropout": 0.0},
    "gpt, tied": {
        "model": "gpt", "hidden_size": 96, "num_layers": 4, "num_heads": 2, "dropout": 0.0, "tie_embeddings": True,
    },
    "llama": {"model": "llama", "hidden_size": 128, "num_layers": 6, "num_heads": 4, "mlp_size": 352},
    "llama, fewer keys": {
        "model": "llama", "hidden_size": 128, "num_layers": 4, "num_heads": 8, "num_kv_heads": 2, "mlp_size": 384,
    },
}  # fmt: skip


def _shape(fields: dict[str, Any]) -> Shape:
    found = shape_of_trainer({**fields, "context_length": CONTEXT, "classes": VOCABULARY})
    assert found is not None
    return found


def _model(fields: dict[str, Any], device: str) -> Model:
    config = ModelConfig(**fields, context_length=CONTEXT)
    with torch.device(device):
        return build_model(config, shape=(CONTEXT,), classes=VOCABULARY)


def _estimate(fields: dict[str, Any]) -> Memory:
    recompute = "full" if fields.get("activation_checkpointing") else "none"
    return memory(_shape(fields), Layout(1, 1, "ddp", CONTEXT, SAMPLES, 1, recompute=recompute, dtype="fp32"))


def _kept(model: Model) -> float:
    """Returns the bytes that autograd keeps for the backward pass, beside parameters, each storage once."""
    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    kept: dict[int, int] = {}

    def pack(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    inputs = torch.randint(VOCABULARY, (SAMPLES, CONTEXT))
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss = torch.nn.functional.cross_entropy(model(inputs).flatten(0, 1), inputs.flatten())
    assert loss.requires_grad
    return sum(kept.values())


def _of_processors(fields: dict[str, Any], norms: int) -> int:
    """Returns the bytes that only a processor keeps: its RMSNorm is not fused, and keeps the normalized input too."""
    return norms * fields["hidden_size"] * SAMPLES * CONTEXT * 4 if fields["model"] == "llama" else 0


@pytest.mark.parametrize("name", CASES)
def test_the_state_is_that_of_the_tensors(name: str) -> None:
    model = _model(CASES[name], "meta")
    for parameter in model.parameters():
        parameter.grad = torch.empty_like(parameter)
    optimizer = torch.optim.AdamW(model.parameters(), foreach=True)
    optimizer.step()
    moments = [state[key] for state in optimizer.state.values() for key in ("exp_avg", "exp_avg_sq")]
    found = _estimate(CASES[name])
    parameters = list(model.parameters())
    assert _shape(CASES[name]).parameters == pytest.approx(sum(one.numel() for one in parameters), rel=1e-3)
    assert found.weights == pytest.approx(sum(one.nbytes for one in parameters), rel=1e-3)
    assert found.gradients == pytest.approx(
        sum(one.grad.nbytes for one in parameters if one.grad is not None), rel=1e-3
    )
    assert found.optimizer == pytest.approx(sum(one.nbytes for one in moments), rel=1e-3)


@pytest.mark.parametrize("name", CASES)
def test_activations_are_those_that_autograd_keeps(name: str) -> None:
    # The logarithms of the logits are the other half of what a step keeps of them.
    logits = SAMPLES * CONTEXT * VOCABULARY * 4
    estimated = (
        _estimate(CASES[name]).activations + logits + _of_processors(CASES[name], 2 * CASES[name]["num_layers"] + 1)
    )
    assert estimated == pytest.approx(_kept(_model(CASES[name], "cpu")), rel=ACCURACY)


@pytest.mark.parametrize("name", CASES)
def test_the_operations_are_those_that_the_trainer_counts(name: str) -> None:
    counted = _model(CASES[name], "meta").flops_per_sample() / CONTEXT
    assert _shape(CASES[name]).flops(CONTEXT) == pytest.approx(counted, rel=0.02)


@pytest.mark.parametrize("name", ["gpt", "llama"])
def test_recomputation_keeps_the_inputs_of_the_layers(name: str) -> None:
    fields = {**CASES[name], "activation_checkpointing": True}
    # While a layer is recomputed, its activations come on top.
    one_layer = activation_numbers(_shape(fields)) * SAMPLES * CONTEXT * 4
    logits = SAMPLES * CONTEXT * VOCABULARY * 4 + _of_processors(fields, 1)
    estimated = _estimate(fields).activations - one_layer + logits
    assert estimated == pytest.approx(_kept(_model(fields, "cpu")), rel=ACCURACY)
