"""Operations that a model needs, and those that devices could do."""

from __future__ import annotations

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from trainer.config import TrainerConfig
from trainer.metrics.accuracy import sample_losses
from trainer.metrics.mfu import peak_flops, total_peak
from trainer.models import build_model
from trainer.runtime.distributed import World

from .steps import figures, pace, start

# The formula counts the parameters of norms and biases as if they were multiplied with each other.
TOLERANCE = 0.01


@pytest.mark.parametrize(("hidden_size", "num_layers", "context_length"), [(128, 2, 64), (256, 4, 128)])
def test_a_gpt_needs_what_pytorch_counts(hidden_size: int, num_layers: int, context_length: int) -> None:
    config = TrainerConfig(
        model="gpt", data="text", hidden_size=hidden_size, num_layers=num_layers, context_length=context_length
    )
    # On meta nothing is computed, and all is counted.
    model = build_model(config, shape=(context_length,), classes=256).to("meta")
    tokens = torch.zeros(2, context_length, dtype=torch.int64, device="meta")

    # The fused kernels are not all known to PyTorch's counter.
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
        torch.autograd.backward(sample_losses(model(tokens), tokens).sum())

    assert model.flops_per_sample() == pytest.approx(counter.get_total_flops() / len(tokens), rel=TOLERANCE)


@pytest.mark.parametrize("model", ["mlp", "cnn"])
def test_a_model_of_images_needs_what_pytorch_counts(model: str) -> None:
    built = build_model(TrainerConfig(model=model), shape=(8, 8), classes=10).to("meta")
    images, classes = torch.zeros(2, 8, 8, device="meta"), torch.zeros(2, dtype=torch.int64, device="meta")

    with FlopCounterMode(display=False) as counter:
        torch.autograd.backward(sample_losses(built(images), classes).sum())

    assert built.flops_per_sample() == counter.get_total_flops() / len(images)


def test_the_peak_is_that_of_all_devices_together() -> None:
    assert total_peak(["NVIDIA H200", "NVIDIA H200", "NVIDIA A100-SXM4-80GB"]) == pytest.approx(2290.8e12)


@pytest.mark.parametrize("device", ["NVIDIA H300", "NVIDIA H100", "nvidia h200", "cpu"])
def test_no_peak_is_guessed(device: str) -> None:
    assert total_peak(["NVIDIA H200", device]) is None


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_a_peak_can_be_said_for_a_device_that_is_not_known(precision: str, alone: World) -> None:
    assert peak_flops(TrainerConfig(precision=precision), alone) is None
    assert peak_flops(TrainerConfig(precision=precision, peak_tflops=0.5), alone) == 0.5e12


def test_mfu_is_the_share_of_the_peak() -> None:
    known = pace(peak_flops=512e6)
    known.started(start())

    known.stepped(figures(1, seconds=0.25))

    # 32 samples of a million operations each in a quarter of a second.
    assert known.mfu == pytest.approx(0.25)
    assert known.samples_per_second == pytest.approx(128)


def test_without_a_peak_there_is_no_mfu() -> None:
    unknown = pace()
    unknown.started(start())
    unknown.stepped(figures(1))

    assert unknown.mfu is None


def test_the_first_step_of_a_process_counts_only_while_it_is_the_only_one() -> None:
    warming = pace(tokens_per_sample=64)
    warming.started(start())

    warming.stepped(figures(1, seconds=60.0))
    first = warming.seconds_left
    warming.stepped(figures(2, seconds=0.25))

    assert first == pytest.approx(199 * 60)
    assert warming.seconds_left == pytest.approx(198 * 0.25)
    assert warming.tokens_per_second == pytest.approx(64 * 128)
