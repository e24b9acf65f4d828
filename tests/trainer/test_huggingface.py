"""Weights of Hugging Face models: a run starts from them, and its weights go back, with the same logits."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from transformers import (
    AutoModelForCausalLM,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
)

from tests.harness.trainer.launch import start
from trainer import export
from trainer.checkpoint.catalog import require_newest_valid
from trainer.checkpoint.tensors import read_model
from trainer.config import TrainerConfig, parse_flags
from trainer.errors import ConfigError
from trainer.models import Model, build_model
from trainer.models.pretrained import load_weights
from trainer.run import train
from trainer.runtime.distributed import World

pytestmark = pytest.mark.filterwarnings("ignore:torch.distributed is disabled")

NAMES = ("gpt2", "gpt2-untied", "llama", "llama-tied")
TOKENS = torch.arange(24).view(2, 12) * 10 % 256
IDS: dict[str, Any] = {"bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0}
GPT2: dict[str, Any] = {"vocab_size": 256, "n_positions": 64, "n_embd": 32, "n_layer": 2, "n_head": 4, **IDS}
LLAMA: dict[str, Any] = {
    "vocab_size": 256,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 64,
    **IDS,
}
# Scaled so that it has an effect on short sequences.
LLAMA_3_1: dict[str, Any] = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}
CONFIGURATIONS = {
    "gpt2": GPT2Config(**GPT2),
    "gpt2-untied": GPT2Config(
        **GPT2, n_inner=40, activation_function="gelu", layer_norm_epsilon=1e-3, tie_word_embeddings=False
    ),
    "llama": LlamaConfig(**LLAMA, intermediate_size=48, num_key_value_heads=2, head_dim=16, rms_norm_eps=1e-3),
    "llama-tied": LlamaConfig(
        **LLAMA,
        intermediate_size=64,
        rope_parameters=LLAMA_3_1 | {"rope_theta": 500.0},
        tie_word_embeddings=True,
    ),
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders of Hugging Face models whose weights, also those of biases and norms, are random."""
    folder = tmp_path_factory.mktemp("models")
    torch.manual_seed(0)
    for name, configuration in CONFIGURATIONS.items():
        model = (GPT2LMHeadModel if name.startswith("gpt2") else LlamaForCausalLM)(configuration)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(torch.randn_like(parameter) * 0.1)
        # GPT-2 of 11 tensors a file, to have an index.
        model.save_pretrained(folder / name, max_shard_size="20KB" if name == "gpt2" else "5GB")
    return folder


def run_config(path: Path, *flags: str) -> TrainerConfig:
    return parse_flags(["--data=text", f"--init-from={path}", "--dropout=0", "--context-length=16", *flags])


def imported(path: Path, *flags: str) -> Model:
    config = run_config(path, *flags)
    with torch.device("meta"):
        model = build_model(config, shape=(16,), classes=256)
    load_weights(model, config)
    return model.eval()


def theirs(path: Path) -> PreTrainedModel:
    model: PreTrainedModel = AutoModelForCausalLM.from_pretrained(path)
    return model.eval()


@torch.inference_mode()
def logits(model: Callable[..., Any]) -> Tensor:
    found = model(TOKENS)
    return found if isinstance(found, Tensor) else found.logits


@pytest.mark.parametrize("name", NAMES)
def test_an_imported_model_has_the_same_logits(folders: Path, name: str) -> None:
    expected = logits(theirs(folders / name))
    assert expected.std() > 0.2
    torch.testing.assert_close(logits(imported(folders / name)), expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_a_trained_model_is_exported_with_the_same_logits_and_imported_bit_by_bit(
    folders: Path, name: str, tmp_path: Path, alone: World, capsys: pytest.CaptureFixture[str]
) -> None:
    directory, out = tmp_path / "checkpoints", tmp_path / "out"
    flags = (f"--checkpoint-dir={directory}", "--steps=2", "--batch-size=512")
    assert train(run_config(folders / name, *flags), alone) == 0
    assert f"initial weights: {folders / name}\n" in capsys.readouterr().out

    assert export.main([str(directory), str(out)]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoints", "out"]
    assert sorted(path.name for path in out.iterdir()) == ["config.json", "model.safetensors"]
    trained = read_model(require_newest_valid(directory)[0])
    again = imported(out)
    assert again.state_dict().keys() == trained.keys()
    assert all(torch.equal(tensor, trained[key]) for key, tensor in again.state_dict().items())
    assert not torch.equal(logits(again), logits(imported(folders / name)))
    torch.testing.assert_close(logits(theirs(out)), logits(again), rtol=0, atol=1e-5)


def test_weights_of_a_bare_model_have_no_prefix_but_buffers(folders: Path, tmp_path: Path) -> None:
    """As in https://huggingface.co/openai-community/gpt2."""
    shutil.copy(folders / "gpt2" / "config.json", tmp_path)
    found = {
        name.removeprefix("transformer."): tensor
        for file in (folders / "gpt2").glob("*.safetensors")
        for name, tensor in load_file(file).items()
    }
    save_file(found | {"h.0.attn.bias": torch.ones(1, 1, 64, 64)}, tmp_path / "model.safetensors")
    assert torch.equal(logits(imported(tmp_path)), logits(imported(folders / "gpt2")))


def test_a_run_with_a_checkpoint_resumes_and_ignores_the_weights(
    folders: Path, tmp_path: Path, alone: World, capsys: pytest.CaptureFixture[str]
) -> None:
    source = shutil.copytree(folders / "llama", tmp_path / "llama")
    first, second = tmp_path / "first", tmp_path / "second"
    train(run_config(source, "--batch-size=512", "--steps=1", f"--checkpoint-dir={first}"), alone)
    shutil.copytree(first, second)
    (source / "model.safetensors").unlink()
    capsys.readouterr()
    assert train(run_config(source, "--batch-size=512", "--steps=2", f"--checkpoint-dir={second}"), alone) == 0
    out = capsys.readouterr().out
    assert "resumed: epoch=0 step=1 " in out
    assert f"weights of the checkpoint are used, not those of --init-from {source}\n" in out


def test_a_run_starts_from_an_exported_file(folders: Path, tmp_path: Path, alone: World) -> None:
    directory, file = tmp_path / "checkpoints", tmp_path / "model.safetensors"
    train(run_config(folders / "llama", f"--checkpoint-dir={directory}", "--steps=1", "--batch-size=512"), alone)
    assert export.main([str(directory), str(file)]) == 0
    assert parse_flags(["--data=text", f"--init-from={file}"]).context_length == 64
    trained = read_model(require_newest_valid(directory)[0])
    again = imported(file).state_dict()
    assert again.keys() == trained.keys()
    assert all(torch.equal(tensor, trained[key]) for key, tensor in again.items())


def test_sharded_ranks_receive_the_weights(folders: Path, tmp_path: Path, alone: World) -> None:
    flags = ("--steps=2", "--batch-size=512", "--seed=3")
    fields = ("--data=text", "--dropout=0", "--context-length=16", f"--init-from={folders / 'gpt2'}")
    run = start(tmp_path / "two", *flags, *fields, "--strategy=fsdp2", processes=2)
    train(run_config(folders / "gpt2", *flags, f"--checkpoint-dir={tmp_path / 'one'}"), alone)
    assert run.finish().returncode == 0
    one, two = (read_model(require_newest_valid(tmp_path / name)[0]) for name in ("one", "two"))
    for name, tensor in one.items():
        # Its gradient is zero, and AdamW turns the rounding noise into steps.
        if not name.endswith("attention.key.bias"):
            torch.testing.assert_close(two[name], tensor, rtol=0, atol=1e-4)


def test_a_wrong_tensor_ends_all_ranks_with_status_2(folders: Path, tmp_path: Path) -> None:
    shutil.copy(folders / "llama" / "config.json", tmp_path)
    flags = ("--data=text", "--context-length=16", f"--init-from={tmp_path}")
    run = start(tmp_path / "checkpoints", *flags, processes=2).finish()
    assert "exitcode  : 2" in run.stderr
    assert run.errors == [error for error in run.errors if "has neither model.safetensors nor" in error]


def test_weights_in_16_bits_are_trained_in_fp32(folders: Path, tmp_path: Path) -> None:
    shutil.copytree(folders / "llama", tmp_path / "llama")
    file = tmp_path / "llama" / "model.safetensors"
    halves = {name: tensor.bfloat16() for name, tensor in load_file(file).items()}
    save_file(halves, file)
    weight = imported(tmp_path / "llama").state_dict()["tokens.weight"]
    assert weight.dtype == torch.float32
    assert torch.equal(weight, halves["model.embed_tokens.weight"].float())


def test_a_field_that_differs_from_the_model_is_an_error_and_others_follow_it(folders: Path) -> None:
    path = folders / "llama"
    config = run_config(path)
    assert (config.model, config.num_kv_heads, config.head_size, config.mlp_size) == ("llama", 2, 16, 48)
    assert (config.classes, config.max_positions, config.norm_epsilon) == (256, 64, 1e-3)
    message = f"--hidden-size must be 32 as in {path}, or not set; it is 64: for example --hidden-size 32"
    with pytest.raises(ConfigError, match=message):
        run_config(path, "--hidden-size=64")
    with pytest.raises(ConfigError, match="for example --no-tie-embeddings"):
        run_config(path, "--tie-embeddings")
    with pytest.raises(ConfigError, match="--context-length must be at most max_positions, which is 64, not 65"):
        run_config(path, "--context-length=65")


@pytest.mark.parametrize(
    ("name", "key", "value", "message"),
    [
        ("llama", "model_type", "mamba", "model_type mamba is unknown: use a model of type gpt2 or llama"),
        (
            "llama",
            "rope_parameters",
            {"rope_type": "yarn"},
            "rope_parameters has the type yarn: use a model with the type default or llama3",
        ),
        ("llama", "rope_scaling", {"type": "linear", "factor": 2}, "rope_scaling has the type linear"),
        ("llama", "rope_scaling", {"rope_type": "llama3"}, "rope_scaling has the type llama3, and factor is missing"),
        ("llama", "rope_scaling", "linear", "rope_scaling is 'linear', and not an object"),
        ("llama", "rope_scaling", {"factor": 2}, "rope_scaling has the type default, and factor is unknown"),
        ("llama", "attention_bias", True, "attention_bias is True, and only False is supported"),
        ("llama", "hidden_act", "gelu", "hidden_act is 'gelu', and only 'silu' is supported"),
        ("llama", "quantization_config", {"bits": 4}, "quantization_config is unknown, and may change what the model"),
        ("llama", "hidden_size", None, "hidden_size is missing: write what the weights have"),
        ("gpt2", "n_layer", "2", "n_layer is '2': write what the weights have"),
        ("gpt2", "activation_function", "relu", "activation_function is 'relu': use a model with gelu_new or"),
        ("gpt2", "scale_attn_by_inverse_layer_idx", True, "scale_attn_by_inverse_layer_idx is True"),
    ],
)
def test_a_model_that_the_trainer_cannot_compute_is_refused(
    folders: Path, tmp_path: Path, name: str, key: str, value: object, message: str
) -> None:
    found = json.loads((folders / name / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(found | {key: value}))
    with pytest.raises(ConfigError) as failure:
        run_config(tmp_path)
    assert f"--init-from {tmp_path / 'config.json'}: {message}" in str(failure.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda found: found.pop("model.norm.weight"), "lacks the tensor norm.weight"),
        (
            lambda found: found.update({"model.norm.weight": torch.ones(31)}),
            r"tensor model.norm.weight has the shape \[31\], and this run's model needs \[32\]",
        ),
        (
            lambda found: found.update({"model.layers.0.self_attn.q_proj.bias": torch.ones(64)}),
            "has the tensor model.layers.0.self_attn.q_proj.bias, which this model has no place for",
        ),
        (
            lambda found: found.update({"model.norm.weight": torch.ones(32, dtype=torch.int8)}),
            "tensor model.norm.weight is of the type I8, and only .* are supported: use weights that are not quantized",
        ),
    ],
)
def test_a_tensor_that_does_not_fit_is_named(
    folders: Path, tmp_path: Path, change: Callable[[dict[str, Tensor]], None], message: str
) -> None:
    shutil.copytree(folders / "llama", tmp_path / "llama")
    file = tmp_path / "llama" / "model.safetensors"
    found = load_file(file)
    change(found)
    save_file(found, file)
    with pytest.raises(ConfigError, match=message):
        imported(tmp_path / "llama")


def test_pickled_weights_and_other_files_are_refused(folders: Path, tmp_path: Path) -> None:
    shutil.copy(folders / "llama" / "config.json", tmp_path)
    pickled = tmp_path / "pytorch_model.bin"
    pickled.write_bytes(b"")
    with pytest.raises(
        ConfigError, match=r"pickled weights .* are not loaded, .*; write a folder that `save_pretrained`"
    ):
        imported(tmp_path)
    with pytest.raises(ConfigError, match="loading a pickle can run code: write a folder that `save_pretrained`"):
        run_config(pickled)
    with pytest.raises(ConfigError, match=r"is not a file of `python -m trainer.export`: for a Hugging Face model"):
        run_config(folders / "llama" / "model.safetensors")
    with pytest.raises(ConfigError, match=r"cannot read --init-from .*nowhere \(No such file or directory\)"):
        run_config(tmp_path / "nowhere")


def test_an_index_that_leaves_its_folder_is_refused(folders: Path, tmp_path: Path) -> None:
    shutil.copy(folders / "llama" / "config.json", tmp_path)
    (tmp_path / "model.safetensors.index.json").write_text('{"weight_map": {"model.norm.weight": "../a.safetensors"}}')
    with pytest.raises(ConfigError, match=r"names '\.\./a\.safetensors', which is not a file in its folder"):
        imported(tmp_path)


def test_a_folder_that_exists_or_has_no_such_model_is_not_written(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert export.main([str(trained), str(tmp_path / "out")]) == 2
    assert "Hugging Face has no model like mlp: write OUT as FILE.safetensors" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == [trained.name]
