"""All strategies and world sizes train the same model from the same steps and samples."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.harness.trainer.environment import ENVIRONMENT
from tests.harness.trainer.fork_server import fork
from tests.harness.trainer.launch import torchrun
from tests.trainer.strategy_trials import MODELS, SAVED_AT, STEPS, Outcome, Trial, from_checkpoint, from_scratch
from trainer.config import TrainerConfig
from trainer.errors import ConfigError
from trainer.models import Model, build_model
from trainer.parallel import parallelize
from trainer.parallel.compile import compile_blocks
from trainer.runtime.distributed import World

# All compute in fp32 but add in different orders: after 20 steps, losses of 2 to 5 differ by about 1e-6.
LOSS_TOLERANCE = 1e-5
NORM_TOLERANCE = 5e-5  # relative
# AdamW normalizes gradients: even one near zero moves a parameter by up to the learning rate of 1e-2.
PARAMETER_TOLERANCE = 1e-4
# Their true gradient is zero, because softmax ignores a constant added to all scores. AdamW amplifies the noise.
NOISE = ("attention.key.bias",)
HALF_TOLERANCE = 0.03  # bf16 has 8 bits, some 0.4% in each operation
# About 20 s on two idle cores, and ten times that on busy ones.
TIMEOUT_SECONDS = 280


@dataclass(frozen=True)
class Results:
    """The results of one process, and of 2 and 4 ranks."""

    alone: dict[str, Outcome]
    folder: Path
    on: dict[int, dict[str, Any]]

    def outcome(self, ranks: int, name: str) -> Outcome:
        """Returns the outcome of a training on this many ranks."""
        return Outcome(**self.on[ranks]["outcomes"][name])


@pytest.fixture(scope="module")
def results(alone: World, tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Results of one process, then four ranks, then two; each reads checkpoints of the previous ones."""
    folder = tmp_path_factory.mktemp("strategies")
    one = {model: from_scratch(alone, model, folder / "alone" if model == "gpt" else None) for model in MODELS}
    found = {}
    for ranks in (4, 2):
        run = fork(torchrun(ranks, ["tests.trainer.strategy_trials", str(folder)]), ENVIRONMENT)
        stdout, stderr = run.communicate(TIMEOUT_SECONDS)
        assert run.returncode == 0, stderr
        # stdout is for the trainer's log only.
        assert stdout == ""
        found[ranks] = torch.load(folder / f"{ranks}.pt", weights_only=True)
    return Results(one, folder, found)


SAME = [
    *((4, name) for name in ("gpt fsdp2", "gpt hsdp", "gpt tensor", "mlp ddp", "mlp hsdp", "mlp tensor")),
    # Here ddp and fsdp2 compile, and recompute activations.
    *((2, name) for name in ("gpt ddp", "gpt fsdp2", "gpt tensor", "gpt zero-1", "gpt zero-2-offload", "gpt zero-3")),
    *((2, f"llama {name}") for name in ("ddp", "fsdp2", "tensor", "zero-1", "zero-2-offload", "zero-3")),
    *((2, name) for name in ("mlp ddp", "mlp fsdp2", "mlp zero-1", "mlp zero-2", "odd zero-3-offload")),
]


@pytest.mark.parametrize(("ranks", "name"), SAME, ids=[f"{name} on {ranks}" for ranks, name in SAME])
def test_every_strategy_trains_the_same_model_as_one_process(results: Results, ranks: int, name: str) -> None:
    outcome = results.outcome(ranks, name)
    assert len(outcome.losses) == STEPS - outcome.begin
    assert_same(outcome, results.alone[name.split()[0]])


@pytest.mark.parametrize(("ranks", "name"), [(4, "fsdp2"), (4, "tensor"), (2, "zero-3")])
def test_one_process_resumes_from_another_strategy_and_world_size(
    results: Results, alone: World, ranks: int, name: str
) -> None:
    model = "odd" if name == "zero-3" else "gpt"
    _, outcome = from_checkpoint(alone, model, results.folder / f"{name}-on-{ranks}")
    assert_same(outcome, results.alone[model])


def test_another_strategy_and_world_size_reads_a_checkpoint_bit_by_bit(results: Results, alone: World) -> None:
    trial = Trial(alone, "gpt")
    for saved, loaded in (("alone", results.on[4]["loaded"]), ("fsdp2-on-4", results.on[2]["loaded"])):
        trial.load(results.folder / saved)
        torch.testing.assert_close(loaded, trial.full_state(), rtol=0, atol=0)
    assert float(loaded["optimizer.head.weight.step"]) == SAVED_AT


def test_only_rank_zero_ever_holds_more_of_a_model_than_its_shard(results: Results) -> None:
    first, *others = results.on[4]["surplus"]
    assert first > 0.15
    assert max(others) < 0.1


def test_a_state_that_deepspeed_has_gathered_is_not_copied_again_for_a_save(results: Results) -> None:
    assert results.on[2]["copied again"] == []


@pytest.mark.parametrize("name", ["ddp", "fsdp2", "zero-1"])
def test_gradients_are_exchanged_once_per_step_however_many_micro_batches(results: Results, name: str) -> None:
    in_one_part, in_several = results.on[2]["exchanges"][name]
    assert in_one_part == in_several > 0


def test_zero_2_exchanges_gradients_for_each_micro_batch(results: Results) -> None:
    in_one_part, in_several = results.on[2]["exchanges"]["zero-2"]
    assert in_several > in_one_part > 0


@pytest.mark.parametrize("precision", ["fp32", "bf16", "fp16"])
@pytest.mark.parametrize(
    ("ranks", "name"),
    [(4, "hsdp"), (4, "tensor"), (2, "ddp"), (2, "fsdp2"), (2, "zero-1"), (2, "zero-2"), (2, "zero-3")],
)
def test_all_ranks_skip_a_step_in_which_one_has_infinite_gradients(
    results: Results, ranks: int, name: str, precision: str
) -> None:
    found = results.on[ranks]["overflown"][f"{name} {precision}"]
    assert found["norm"] == float("inf")
    assert found["changed"] == []
    assert found["scales"] == [(2.0**16, 2.0**15) if precision == "fp16" else (1.0, 1.0)] * ranks


def test_replicated_parameters_stay_identical_in_a_tensor_parallel_group(results: Results) -> None:
    assert results.on[4]["different"] == []


@pytest.mark.parametrize("name", ["ddp", "fsdp2", "zero-1", "zero-2"])
def test_bf16_trains_and_keeps_parameters_and_optimizer_in_fp32(results: Results, name: str) -> None:
    outcome = Outcome(**results.on[2]["halves"][name])
    assert outcome.losses == pytest.approx(results.alone["mlp"].losses, rel=HALF_TOLERANCE)
    assert outcome.losses != pytest.approx(results.alone["mlp"].losses, rel=1e-6)
    assert {tensor.dtype for tensor in outcome.state.values()} == {torch.float32}


def test_saving_before_the_first_step_changes_nothing(results: Results, alone: World) -> None:
    trial = Trial(alone, "mlp")
    trial.strategy.state_dict()
    assert asdict(trial.train(0, STEPS))["losses"] == results.alone["mlp"].losses


def test_the_loss_scale_is_restored_unless_the_precision_differs(alone: World) -> None:
    half, again, full = (Trial(alone, "mlp", precision=precision) for precision in ("fp16", "fp16", "fp32"))
    half.strategy.scale.update(float("inf"))
    for trial in (again, full):
        trial.strategy.load_extras(half.strategy.extras())
    assert again.strategy.extras() == half.strategy.extras() == {"loss_scale": {"value": 2.0**15, "good_steps": 0}}
    assert full.strategy.scale.value == 1.0


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"model": "cnn"},
            r"--strategy tensor supports the models mlp, gpt and llama, not cnn: for example --strategy fsdp2",
        ),
        ({"hidden_size": 10}, r"--hidden-size must be a multiple of tensor_size, .*: for example --hidden-size 8"),
        (
            {"model": "gpt", "data": "text", "num_heads": 2},
            r"--num-heads must be a multiple of tensor_size, .*: for example --num-heads 4",
        ),
    ],
)
def test_a_model_that_cannot_be_split_is_reported_with_a_valid_value(
    alone: World, fields: dict[str, Any], message: str
) -> None:
    config = TrainerConfig(**{"strategy": "tensor", "tensor_size": 4, **fields})
    with pytest.raises(ConfigError, match=message):
        parallelize(model_of(config), config, alone)


def test_missing_deepspeed_is_reported_with_the_package_to_install(
    alone: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "deepspeed", None)
    config = TrainerConfig(strategy="deepspeed")
    with pytest.raises(ConfigError, match=r"--strategy deepspeed needs .* `pip install deepspeed`"):
        parallelize(model_of(config), config, alone)


def test_a_missing_compiler_is_reported_with_the_packages_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
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
