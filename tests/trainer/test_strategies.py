"""Whatever the strategy and however many ranks: the same steps on the same samples give the same model."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from trainer.config import TrainerConfig
from trainer.errors import ConfigError
from trainer.models import Model, build_model
from trainer.parallel import spread
from trainer.parallel.compiling import compile_blocks
from trainer.runtime.distributed import World

from .launch import ENVIRONMENT
from .strategies import MODELS, SAVED_AT, STEPS, Outcome, Trial, from_checkpoint, from_scratch

# All of them compute in fp32 but add up in another order: after 20 steps losses differ by some 1e-6 of 2 to 5.
LOSS_TOLERANCE = 1e-5
NORM_TOLERANCE = 5e-5  # relative
# AdamW divides a gradient by its size: one that is nearly nothing moves a parameter by up to a learning rate of 1e-2.
PARAMETER_TOLERANCE = 1e-4
# Their gradient is nothing at all: softmax does not see what is added to all scores. AdamW makes steps of the noise.
NOISE = ("attention.key.bias",)
HALF_TOLERANCE = 0.03  # bf16 has 8 bits, some 0.4% in each operation
# Some 20 s on two idle cores, and ten times that where other tests want them.
TIMEOUT_SECONDS = 280


@dataclass(frozen=True)
class Results:
    """What one process found, and 2 and 4 ranks."""

    alone: dict[str, Outcome]
    folder: Path
    on: dict[int, dict[str, Any]]

    def outcome(self, ranks: int, name: str) -> Outcome:
        """Of a training on so many ranks."""
        return Outcome(**self.on[ranks]["outcomes"][name])


@pytest.fixture(scope="module")
def results(alone: World, tmp_path_factory: pytest.TempPathFactory) -> Results:
    """One process, then four ranks, then two, each of which read what the ones before have saved."""
    folder = tmp_path_factory.mktemp("strategies")
    one = {model: from_scratch(alone, model, folder / "alone" if model == "gpt" else None) for model in MODELS}
    found = {}
    for ranks in (4, 2):
        torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"]
        ended = subprocess.run(
            [*torchrun, "-m", "tests.trainer.strategies", folder],
            check=False,
            capture_output=True,
            text=True,
            env=ENVIRONMENT,
            timeout=TIMEOUT_SECONDS,
        )
        assert ended.returncode == 0, ended.stderr
        # The log of the trainer is on stdout, and nothing else is to be there.
        assert ended.stdout == ""
        found[ranks] = torch.load(folder / f"{ranks}.pt", weights_only=True)
    return Results(one, folder, found)


SAME = [
    *((4, name) for name in ("gpt fsdp2", "gpt hsdp", "gpt tensor", "mlp ddp", "mlp hsdp", "mlp tensor")),
    # Here ddp and fsdp2 compile, and compute activations again.
    *((2, name) for name in ("gpt ddp", "gpt fsdp2", "gpt tensor", "gpt zero-1", "gpt zero-2-offload", "gpt zero-3")),
    *((2, name) for name in ("mlp ddp", "mlp fsdp2", "mlp zero-1", "mlp zero-2", "odd zero-3-offload")),
]


@pytest.mark.parametrize(("ranks", "name"), SAME, ids=[f"{name} on {ranks}" for ranks, name in SAME])
def test_accumulated_short_and_empty_parts_train_the_model_that_one_process_trains_on_whole_batches(
    results: Results, ranks: int, name: str
) -> None:
    outcome = results.outcome(ranks, name)
    assert len(outcome.losses) == STEPS - outcome.begin
    assert_same(outcome, results.alone[name.split()[0]])


@pytest.mark.parametrize(("ranks", "name"), [(4, "fsdp2"), (4, "tensor"), (2, "zero-3")])
def test_one_process_goes_on_from_the_checkpoint_of_another_strategy_on_more_ranks(
    results: Results, alone: World, ranks: int, name: str
) -> None:
    model = "odd" if name == "zero-3" else "gpt"
    _, outcome = from_checkpoint(alone, model, results.folder / f"{name}-on-{ranks}")
    assert_same(outcome, results.alone[model])


def test_a_checkpoint_is_read_to_the_last_bit_by_another_strategy_on_another_number_of_ranks(
    results: Results, alone: World
) -> None:
    trial = Trial(alone, "gpt")
    for saved, loaded in (("alone", results.on[4]["loaded"]), ("fsdp2-on-4", results.on[2]["loaded"])):
        trial.load(results.folder / saved)
        torch.testing.assert_close(loaded, trial.whole(), rtol=0, atol=0)
    assert float(loaded["optimizer.head.weight.step"]) == SAVED_AT


def test_only_the_first_rank_ever_holds_more_of_a_model_than_its_share(results: Results) -> None:
    first, *others = results.on[4]["surplus"]
    assert first > 0.15
    assert max(others) < 0.1


@pytest.mark.parametrize("name", ["ddp", "fsdp2", "zero-1"])
def test_ranks_exchange_gradients_once_per_step_however_many_parts_are_accumulated(results: Results, name: str) -> None:
    in_one_part, in_several = results.on[2]["exchanges"][name]
    assert in_one_part == in_several > 0


def test_zero_2_exchanges_gradients_of_each_part_since_no_rank_keeps_them_whole(results: Results) -> None:
    in_one_part, in_several = results.on[2]["exchanges"]["zero-2"]
    assert in_several > in_one_part > 0


@pytest.mark.parametrize(
    ("ranks", "name"), [(4, "hsdp"), (4, "tensor"), (2, "ddp"), (2, "fsdp2"), (2, "zero-1"), (2, "zero-2")]
)
def test_all_ranks_leave_out_a_step_in_which_one_of_them_has_infinite_gradients(
    results: Results, ranks: int, name: str
) -> None:
    found = results.on[ranks]["overflown"][name]
    assert found["norm"] == float("inf")
    assert found["changed"] == []
    assert found["scales"] == [(2.0**16, 2.0**15)] * ranks


def test_ranks_that_compute_together_have_the_same_copies_of_what_is_not_split(results: Results) -> None:
    assert results.on[4]["different"] == []


@pytest.mark.parametrize("name", ["ddp", "fsdp2", "zero-1", "zero-2"])
def test_bf16_trains_and_keeps_parameters_and_optimizer_in_fp32(results: Results, name: str) -> None:
    outcome = Outcome(**results.on[2]["halves"][name])
    assert outcome.losses == pytest.approx(results.alone["mlp"].losses, rel=HALF_TOLERANCE)
    assert outcome.losses != pytest.approx(results.alone["mlp"].losses, rel=1e-6)
    assert {tensor.dtype for tensor in outcome.state.values()} == {torch.float32}


def test_saving_before_the_first_step_changes_nothing(results: Results, alone: World) -> None:
    trial = Trial(alone, "mlp")
    trial.strategy.state()
    assert asdict(trial.train(0, STEPS))["losses"] == results.alone["mlp"].losses


def test_the_scale_of_the_loss_is_remembered_but_for_another_precision(alone: World) -> None:
    half, again, full = (Trial(alone, "mlp", precision=precision) for precision in ("fp16", "fp16", "fp32"))
    half.strategy.scale.learn(float("inf"))
    for trial in (again, full):
        trial.strategy.load_extras(half.strategy.extras())
    assert again.strategy.extras() == half.strategy.extras() == {"loss_scale": {"value": 2.0**15, "good_steps": 0}}
    assert full.strategy.scale.value == 1.0


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"model": "cnn"}, r"--strategy tensor splits .* not those of cnn: for example --strategy fsdp2"),
        ({"hidden_size": 10}, r"--hidden-size must be a multiple of tensor_size, .*: for example --hidden-size 8"),
        (
            {"model": "gpt", "data": "text", "num_heads": 2},
            r"--num-heads must be a multiple of tensor_size, .*: for example --num-heads 4",
        ),
    ],
)
def test_a_model_that_ranks_cannot_split_is_named_with_what_to_write(
    alone: World, fields: dict[str, Any], message: str
) -> None:
    config = TrainerConfig(**{"strategy": "tensor", "tensor_size": 4, **fields})
    with pytest.raises(ConfigError, match=message):
        spread(model_of(config), config, alone)


def test_a_missing_deepspeed_is_named_with_what_to_install(alone: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "deepspeed", None)
    config = TrainerConfig(strategy="deepspeed")
    with pytest.raises(ConfigError, match=r"--strategy deepspeed needs .* `pip install deepspeed`"):
        spread(model_of(config), config, alone)


def test_a_missing_compiler_is_named_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    from torch._inductor import config as inductor

    monkeypatch.setattr(inductor.cpp, "cxx", ("no-such-compiler",))
    monkeypatch.setattr(inductor, "force_disable_caches", True)
    with pytest.raises(ConfigError, match=r"--compile does not work here .*g\+\+ and python3-dev.* --no-compile"):
        compile_blocks(model_of(TrainerConfig()), torch.device("cpu"))


def model_of(config: TrainerConfig) -> Model:
    return build_model(config, shape=(8, 8), classes=10)


def assert_same(outcome: Outcome, expected: Outcome) -> None:
    assert outcome.losses == pytest.approx(expected.losses[outcome.begin :], abs=LOSS_TOLERANCE, rel=0)
    assert outcome.norms == pytest.approx(expected.norms[outcome.begin :], rel=NORM_TOLERANCE)
    assert outcome.state.keys() == expected.state.keys()
    torch.testing.assert_close(parameters(outcome.state), parameters(expected.state), rtol=0, atol=PARAMETER_TOLERANCE)
    assert all(float(outcome.state[name]) == STEPS for name in expected.state if name.endswith(".step"))


def parameters(state: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensor for name, tensor in state.items() if name.startswith("model.") and not name.endswith(NOISE)}
