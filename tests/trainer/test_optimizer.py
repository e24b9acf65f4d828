"""The options of the optimizer, its schedule, and the precision."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from trainer.config import TrainerConfig
from trainer.models import build_model
from trainer.parallel import parallelize, resolve_precision
from trainer.parallel.adamw import settings, undecayed_parameters
from trainer.parallel.gradients import scale_gradients
from trainer.run import _environment_line
from trainer.runtime.distributed import World
from trainer.schedule import learning_rate_at


def test_the_cosine_ends_at_the_lowest_learning_rate() -> None:
    config = TrainerConfig(learning_rate=0.01, min_learning_rate=0.001, schedule="cosine", warmup_steps=2)
    rates = [learning_rate_at(config, step, 10) for step in range(1, 11)]
    assert rates[:2] == [0.005, 0.01]
    assert rates == sorted(rates[:2]) + sorted(rates[2:], reverse=True)
    assert rates[5] == pytest.approx(0.0055)
    assert rates[-1] == 0.001


def test_norms_biases_and_embeddings_decay_only_by_default() -> None:
    config = TrainerConfig(model="gpt", data="text", num_layers=1, weight_decay_scope="matrices")
    model = build_model(config, shape=(64,), classes=256)
    undecayed = undecayed_parameters(model, config)
    assert {"tokens.weight", "positions.weight", "norm.weight", "layers.0.up.bias"} < undecayed
    decayed = {name for name, _ in model.named_parameters()} - undecayed
    parts = ("attention.query", "attention.key", "attention.value", "attention.output", "up", "down")
    assert decayed == {"head.weight", *(f"layers.0.{part}.weight" for part in parts)}
    assert undecayed_parameters(model, TrainerConfig(model="gpt", data="text")) == frozenset()


def test_the_options_of_adamw_are_pytorch_s_defaults_unless_set() -> None:
    defaults = torch.optim.AdamW([nn.Parameter(torch.zeros(1))]).defaults
    known = settings(TrainerConfig())
    assert {name: known[name] for name in ("betas", "eps", "weight_decay")} == {
        name: defaults[name] for name in ("betas", "eps", "weight_decay")
    }
    changed = settings(TrainerConfig(adam_beta1=0.8, adam_beta2=0.95, adam_eps=1e-6))
    assert (changed["betas"], changed["eps"]) == ((0.8, 0.95), 1e-6)


def test_gradients_are_scaled_in_one_operation() -> None:
    gradients = [torch.ones(size) for size in (3, 5, 7)]
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
        scale_gradients(gradients, 0.25)
    assert all(torch.equal(gradient, torch.full_like(gradient, 0.25)) for gradient in gradients)
    assert {event.key: event.count for event in profiler.key_averages()}["aten::_foreach_mul_"] == 1


@pytest.mark.parametrize(("device", "supported", "precision"), [("cpu", True, "fp32"), ("cuda", True, "bf16")])
def test_the_default_precision_is_bf16_on_gpus_that_have_it(
    monkeypatch: pytest.MonkeyPatch, device: str, supported: bool, precision: str
) -> None:
    monkeypatch.setattr("torch.cuda.is_bf16_supported", lambda **_: supported)
    assert resolve_precision(TrainerConfig(), torch.device(device)).precision == precision
    assert resolve_precision(TrainerConfig(precision="fp16"), torch.device(device)).precision == "fp16"
    monkeypatch.setattr("torch.cuda.is_bf16_supported", lambda **_: False)
    assert resolve_precision(TrainerConfig(), torch.device(device)).precision == "fp32"


def test_the_first_line_names_the_precision_and_tf32(alone: World) -> None:
    assert _environment_line(alone, "none", TrainerConfig(precision="bf16")).endswith(" precision=bf16")
    assert _environment_line(alone, "none", TrainerConfig(precision="fp32", tf32=True)).endswith(" precision=tf32")


@pytest.mark.parametrize("tf32", [True, False])
def test_tf32_is_a_setting(alone: World, monkeypatch: pytest.MonkeyPatch, tf32: bool) -> None:
    config, seen = TrainerConfig(tf32=tf32), list[str]()
    monkeypatch.setattr("torch.set_float32_matmul_precision", seen.append)
    parallelize(build_model(config, shape=(8, 8), classes=10), config, alone)
    assert seen == ["high" if tf32 else "highest"]
