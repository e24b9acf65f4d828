"""The FLOPs of models and the peak FLOPS of devices."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from tests.trainer.step_metrics import new_throughput, run_start, step_metrics
from trainer.config import TrainerConfig
from trainer.metrics.accuracy import sample_losses
from trainer.metrics.mfu import peak_flops, total_peak_flops
from trainer.models import build_model
from trainer.runtime.distributed import World

# The formula counts norms and biases as if they were matrices.
TOLERANCE = 0.01


@pytest.mark.parametrize(
    ("hidden_size", "num_layers", "context_length", "fields"),
    [
        (128, 2, 64, {"model": "gpt"}),
        (256, 4, 128, {"model": "gpt", "tie_embeddings": True, "max_positions": 512}),
        (128, 2, 64, {"model": "llama", "num_kv_heads": 2, "head_size": 16}),
    ],
)
def test_flops_of_token_models_equal_pytorch_s_count(
    hidden_size: int, num_layers: int, context_length: int, fields: dict[str, Any]
) -> None:
    config = TrainerConfig(
        data="text", hidden_size=hidden_size, num_layers=num_layers, context_length=context_length, **fields
    )
    # The meta device computes nothing but counts everything.
    model = build_model(config, shape=(context_length,), classes=256).to("meta")
    tokens = torch.zeros(2, context_length, dtype=torch.int64, device="meta")

    # PyTorch's counter does not know all fused kernels.
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
        torch.autograd.backward(sample_losses(model(tokens), tokens).sum())

    assert model.flops_per_sample() == pytest.approx(counter.get_total_flops() / len(tokens), rel=TOLERANCE)


@pytest.mark.parametrize("model", ["mlp", "cnn"])
def test_image_model_flops_equal_pytorch_s_count(model: str) -> None:
    built = build_model(TrainerConfig(model=model), shape=(8, 8), classes=10).to("meta")
    images, classes = torch.zeros(2, 8, 8, device="meta"), torch.zeros(2, dtype=torch.int64, device="meta")

    with FlopCounterMode(display=False) as counter:
        torch.autograd.backward(sample_losses(built(images), classes).sum())

    assert built.flops_per_sample() == counter.get_total_flops() / len(images)


def test_the_peak_is_that_of_all_devices_together() -> None:
    assert total_peak_flops(["NVIDIA H200", "NVIDIA H200", "NVIDIA A100-SXM4-80GB"]) == pytest.approx(2290.8e12)


@pytest.mark.parametrize("device", ["NVIDIA H300", "NVIDIA H100", "nvidia h200", "cpu"])
def test_no_peak_is_guessed(device: str) -> None:
    assert total_peak_flops(["NVIDIA H200", device]) is None


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_the_peak_of_an_unknown_device_can_be_configured(precision: str, alone: World) -> None:
    assert peak_flops(TrainerConfig(precision=precision), alone) is None
    assert peak_flops(TrainerConfig(precision=precision, peak_tflops=0.5), alone) == 0.5e12


def test_mfu_is_the_share_of_the_peak() -> None:
    known = new_throughput(peak_flops=512e6)
    known.on_start(run_start())

    known.on_step(step_metrics(1, seconds=0.25))

    # 32 samples of a million operations each in a quarter of a second.
    assert known.mfu == pytest.approx(0.25)
    assert known.samples_per_second == pytest.approx(128)


def test_without_a_peak_there_is_no_mfu() -> None:
    unknown = new_throughput()
    unknown.on_start(run_start())
    unknown.on_step(step_metrics(1))

    assert unknown.mfu is None


def test_the_first_step_of_a_process_counts_only_while_it_is_the_only_one() -> None:
    warming = new_throughput(tokens_per_sample=64)
    warming.on_start(run_start())

    warming.on_step(step_metrics(1, seconds=60.0))
    first = warming.seconds_left
    warming.on_step(step_metrics(2, seconds=0.25))

    assert first == pytest.approx(199 * 60)
    assert warming.seconds_left == pytest.approx(198 * 0.25)
    assert warming.tokens_per_second == pytest.approx(64 * 128)
