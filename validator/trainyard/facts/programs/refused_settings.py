"""Combinations of settings that training frameworks refuse at start-up, one entry for each of their checks.

A check reads the settings of one file or command. It raises `UnknownValueError` where a value is not in the files. The
message takes values in braces. The sources were compared at these releases:

- axolotl-ai-cloud/axolotl v0.4.0 to v0.18.0, src/axolotl/utils/schemas/validation.py, deprecated.py and peft.py, before
  0.8 utils/config/models/input. The file is read as a whole; an empty value is none.
- hiyouga/LLaMA-Factory v0.8.3 to v0.9.5, src/llamafactory/hparams/parser.py, data_args.py and finetuning_args.py,
  model/model_utils/quantization.py.
- volcengine/verl v0.2 to v0.7.0, verl/utils/config.py (before 0.6 trainer/ppo/ray_trainer.py), workers/config/actor.py
  and workers/fsdp_workers.py.
- hiyouga/EasyR1 v0.3.0 to v0.3.2, verl/trainer/ray_trainer.py and verl/protocol.py.
- NVIDIA-NeMo/RL v0.3.0 to 7ea279ab, nemo_rl/models/policy/lm_policy.py, models/megatron/setup.py and
  algorithms/grpo.py.
- OpenRLHF/OpenRLHF v0.6.0 to v0.9.0, openrlhf/cli/train_ppo_ray.py and utils/deepspeed/deepspeed.py.
- mosaicml/llm-foundry v0.5.0 to v0.15.1, llmfoundry/utils/config_utils.py: calculate_batch_size_info.
- deepspeedai/DeepSpeed v0.16.4 to 0.19.6, deepspeed/runtime/engine.py: _configure_tensor_parallel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from trainyard.startup import NamedTuple, pattern


class Told(Protocol):
    """The settings of a program, by their names. Each method raises `UnknownValueError` for a value to fill in."""

    def on(self, name: str) -> bool:
        """True if a setting has a value that is not empty, 0 or false."""

    def off(self, name: str) -> bool:
        """True if a setting is explicitly false."""

    def given(self, name: str) -> bool:
        """True if a setting has a value, or a default."""

    def text(self, name: str) -> str:
        """Returns a value as text, or its default; empty if there is none."""

    def number(self, name: str) -> float:
        """Returns a number, or its default. Raises `UnknownValueError` if there is none."""


class Refused(NamedTuple):
    """A combination that a program refuses: the check, the message, and what to write instead."""

    check: Callable[[Told], bool]
    message: str
    help: str


class Program(NamedTuple):
    """A program with its defaults, and what it refuses in all releases (`always`) and in some (`in_some`)."""

    name: str
    defaults: dict[str, Any]
    always: tuple[Refused, ...]
    in_some: tuple[Refused, ...] = ()


def _with(check: Callable[[Told], bool], name: str, message: str, help_: str) -> Refused:
    """Returns a setting that does not go with what the check finds."""
    return Refused(lambda v: check(v) and v.on(name), message, help_)


def _both(one: str, other: str) -> Refused:
    return Refused(lambda v: v.on(one) and v.on(other), f"`{one}` and `{other}` exclude each other", "remove one")


def _counted(strategy: str, count: str) -> Refused:
    return Refused(
        lambda v: v.on(strategy) and v.text(strategy) != "steps" and v.on(count),
        f"`{count}` needs the `{strategy}` `steps`, and it is `{{{strategy}}}`",
        "remove one of the two",
    )


def _is_split(v: Told) -> bool:
    return any(v.given(name) and v.number(name) > 1 for name in ("sequence_parallel_degree", "context_parallel_size"))


_STRATEGIES = ("eval_strategy", "evaluation_strategy")
AXOLOTL = Program(
    "Axolotl",
    {},
    (
        _both("deepspeed", "fsdp"),
        _both("save_steps", "saves_per_epoch"),
        _both("eval_steps", "evals_per_epoch"),
        _both("warmup_steps", "warmup_ratio"),
        _both("gradient_accumulation_steps", "batch_size"),
        _both("test_datasets", "val_set_size"),
        _both("max_memory", "gpu_memory_limit"),
        _both("lr_groups", "loraplus_lr_ratio"),
        _counted("save_strategy", "save_steps"),
        *(_counted(name, count) for name in _STRATEGIES for count in ("eval_steps", "evals_per_epoch")),
        Refused(
            lambda v: v.on("rl") and v.on("sample_packing"),
            "`sample_packing` does not work with `rl`",
            "set `sample_packing: false`",
        ),
        Refused(
            lambda v: v.on("max_packed_sequence_len"),
            "`max_packed_sequence_len` is no longer supported",
            "write `sample_packing: true`; the length is `sequence_len`",
        ),
        Refused(
            lambda v: v.text("adapter") in ("lora", "qlora") and v.on("flash_attn_fuse_mlp"),
            "`flash_attn_fuse_mlp` does not work with the adapter `{adapter}`",
            "remove it",
        ),
        Refused(
            lambda v: v.text("adapter") == "qlora" and not v.on("merge_lora") and v.on("load_in_8bit"),
            "the adapter `qlora` needs 4 bits, and `load_in_8bit` is on",
            "write `load_in_4bit: true` instead, or the adapter `lora`",
        ),
        Refused(
            lambda v: v.text("adapter") == "qlora" and not v.on("merge_lora") and v.off("load_in_4bit"),
            "the adapter `qlora` needs `load_in_4bit: true`",
            "set it, or write the adapter `lora`",
        ),
        Refused(
            lambda v: not v.on("adapter") and not v.on("inference") and (v.on("load_in_8bit") or v.on("load_in_4bit")),
            "weights of 4 or 8 bits are trained with an `adapter` only, and there is none",
            "set `adapter: qlora` or `lora`, or load full weights",
        ),
        Refused(
            lambda v: v.given("neftune_noise_alpha") and v.number("neftune_noise_alpha") <= 0,
            "`neftune_noise_alpha` must be above 0",
            "remove it",
        ),
        Refused(
            lambda v: _is_split(v) and v.on("sample_packing") and v.number("micro_batch_size") > 1,
            "sequence parallelism with `sample_packing` needs a `micro_batch_size` of 1, and it is {micro_batch_size}",
            "write 1, and raise `gradient_accumulation_steps`",
        ),
        Refused(
            lambda v: _is_split(v) and not v.on("attn_implementation") and v.off("flash_attention"),
            "sequence parallelism needs `flash_attention`, which is off",
            "set `flash_attention: true`",
        ),
    ),
    (
        Refused(
            lambda v: v.on("deepspeed") and v.on("torch_compile"),
            "`torch_compile` stands beside `deepspeed`: Axolotl 0.5 to 0.12 stops, and wants it in DeepSpeed's file",
            "move it into the file of DeepSpeed, as `compile`",
        ),
    ),
)

_SHARDED = pattern(r"(?i)(^|/)[^/]*(z|zero|stage)[-_]?(stage)?[-_]?3[^/]*$")
_QUANTIZED = pattern(r"(?i)[-_](gptq|awq)([-_.]|$)|[-_]int[48]$")


def _stage_3(v: Told) -> bool:
    return _SHARDED.search(v.text("deepspeed")) is not None


_LORA_ONLY = ("use_dora", "use_rslora", "pissa_init", "loraplus_lr_ratio")
_PROJECTED = ("use_galore", "use_apollo", "use_badam")
LLAMA_FACTORY = Program(
    "LLaMA-Factory",
    {"stage": "sft", "finetuning_type": "lora", "mix_strategy": "concat", "pref_loss": "sigmoid"},
    (
        *(
            _with(
                lambda v: v.text("stage") != "sft",
                name,
                f"`{name}` is for the stage `sft` only, and the stage is `{{stage}}`",
                "remove it",
            )
            for name in ("predict_with_generate", "neat_packing", "train_on_prompt", "mask_history")
        ),
        *(
            _with(
                lambda v: v.text("finetuning_type") in ("full", "freeze"),
                name,
                f"`{name}` is for LoRA only, and the `finetuning_type` is `{{finetuning_type}}`",
                "remove it, or write `finetuning_type: lora`",
            )
            for name in (*_LORA_ONLY, "quantization_bit", "adapter_name_or_path")
        ),
        *(
            _with(
                lambda v: v.text("finetuning_type") == "lora",
                name,
                f"`{name}` does not work with LoRA",
                "remove it, or write `finetuning_type: full`",
            )
            for name in _PROJECTED
        ),
        _with(lambda v: v.on("deepspeed"), "use_galore", "`use_galore` does not work with DeepSpeed", "remove one"),
        *(
            _with(
                _stage_3,
                name,
                f"`{name}` does not work with ZeRO stage 3, which `{{deepspeed}}` is",
                "take a file of stage 2, or remove it",
            )
            for name in ("pure_bf16", "use_unsloth", "pissa_init")
        ),
        Refused(
            lambda v: _QUANTIZED.search(v.text("model_name_or_path")) is not None and _stage_3(v),
            "quantized weights such as `{model_name_or_path}` do not work with ZeRO stage 3, which `{deepspeed}` is",
            "take a file of stage 2, or weights that are not quantized",
        ),
        Refused(
            lambda v: v.on("quantization_bit") and v.number("quantization_bit") == 8 and _stage_3(v),
            "8-bit quantization does not work with ZeRO stage 3, which `{deepspeed}` is",
            "write `quantization_bit: 4`, or take a file of stage 2",
        ),
        Refused(
            lambda v: v.text("stage") in ("rm", "ppo") and v.on("load_best_model_at_end"),
            "the stage `{stage}` has no `load_best_model_at_end`",
            "remove it",
        ),
        Refused(
            lambda v: v.text("stage") == "ppo" and not v.given("reward_model"),
            "the stage `ppo` needs a `reward_model`",
            "set it",
        ),
        Refused(
            lambda v: v.on("streaming") and v.on("max_samples"),
            "`max_samples` does not work with `streaming`",
            "remove it",
        ),
        Refused(
            lambda v: v.on("streaming") and not v.given("max_steps"),
            "a streamed dataset has no length, so `streaming` needs `max_steps`",
            "set `max_steps`",
        ),
        Refused(
            lambda v: v.on("streaming") and v.on("val_size") and v.number("val_size") < 1,
            "with `streaming`, `val_size` is a number of samples, and {val_size} is a share",
            "write a whole number",
        ),
        Refused(
            lambda v: v.on("val_size") and v.on("eval_dataset"),
            "`val_size` and `eval_dataset` exclude each other",
            "remove one",
        ),
        Refused(
            lambda v: v.on("mask_history") and v.on("train_on_prompt"),
            "`mask_history` and `train_on_prompt` exclude each other",
            "remove one",
        ),
        Refused(
            lambda v: v.on("interleave_probs") and v.text("mix_strategy") == "concat",
            "`interleave_probs` needs a `mix_strategy` that interleaves, and it is `concat`",
            "set `mix_strategy: interleave_under`",
        ),
        Refused(
            lambda v: v.text("stage") == "dpo" and v.text("pref_loss") != "sigmoid" and v.on("dpo_label_smoothing"),
            "`dpo_label_smoothing` is for the loss `sigmoid` only",
            "remove it",
        ),
    ),
)

_ACTOR, _ROLLOUT = "actor_rollout_ref.actor.", "actor_rollout_ref.rollout."
_DYNAMIC, _MINI, _MICRO = f"{_ACTOR}use_dynamic_bsz", f"{_ACTOR}ppo_mini_batch_size", f"{_ACTOR}ppo_micro_batch_size"
_SEQUENCE = f"{_ACTOR}ulysses_sequence_parallel_size"
_TENSOR = f"{_ROLLOUT}tensor_model_parallel_size"
_BATCH, _ANSWERS = "data.train_batch_size", f"{_ROLLOUT}n"
_MODES = ("token-mean", "seq-mean-token-sum", "seq-mean-token-mean", "seq-mean-token-sum-norm")


def _gpus(v: Told) -> float:
    return v.number("trainer.n_gpus_per_node") * v.number("trainer.nnodes")


def _is_sharded(v: Told) -> bool:
    return v.text(f"{_ACTOR}strategy") in ("fsdp", "fsdp2")


def _of_rank(v: Told) -> float:
    """Returns the samples of a mini batch that a rank gets: fsdp_workers.py, `normalize config`."""
    return v.number(_MINI) * v.number(_ANSWERS) // (_gpus(v) // v.number(_SEQUENCE))


def _two_sizes(name: str) -> Refused:
    return Refused(
        lambda v: not v.on(_DYNAMIC) and v.given(f"{name}_per_gpu") and v.given(name),
        f"`{name.removeprefix('actor_rollout_ref.')}` and the size for each GPU exclude each other",
        "remove the first",
    )


VERL = Program(
    "verl",
    {
        _BATCH: 1024,
        "data.max_prompt_length": 512,
        "data.max_response_length": 512,
        "trainer.nnodes": 1,
        "trainer.n_gpus_per_node": 8,
        _MINI: 256,
        _SEQUENCE: 1,
        _ANSWERS: 1,
        f"{_ACTOR}strategy": "fsdp",
        f"{_ROLLOUT}max_num_batched_tokens": 8192,
        f"{_ROLLOUT}name": "vllm",
        _TENSOR: 2,
    },
    (
        Refused(
            lambda v: not v.on(_DYNAMIC) and v.number(_BATCH) < v.number(_MINI),
            f"`train_batch_size` is {{{_BATCH}}}, less than the `ppo_mini_batch_size` {{{_MINI}}}",
            "write a smaller mini batch",
        ),
        Refused(
            lambda v: not v.on(_DYNAMIC) and _is_sharded(v) and v.number(_BATCH) * v.number(_ANSWERS) % _gpus(v) != 0,
            f"`train_batch_size` {{{_BATCH}}} times `rollout.n` {{{_ANSWERS}}} is not a multiple of the GPUs,  "
            "{trainer.nnodes} x {trainer.n_gpus_per_node}",
            "write a multiple of the GPUs",
        ),
        Refused(
            lambda v: (
                not v.on(_DYNAMIC)
                and _is_sharded(v)
                and v.given(f"{_MICRO}_per_gpu")
                and _of_rank(v) % v.number(f"{_MICRO}_per_gpu") != 0
            ),
            f"the samples that each rank gets of a mini batch are not a multiple of the `ppo_micro_batch_size_per_gpu` "
            f"{{{_MICRO}_per_gpu}}: `ppo_mini_batch_size` {{{_MINI}}} x `rollout.n` {{{_ANSWERS}}} over the GPUs",
            "write a size that divides them",
        ),
        _two_sizes(_MICRO),
        _two_sizes(f"{_ROLLOUT}log_prob_micro_batch_size"),
        Refused(
            lambda v: (
                _is_sharded(v) and v.off("actor_rollout_ref.model.use_remove_padding") and v.number(_SEQUENCE) > 1
            ),
            f"a sequence-parallel size of {{{_SEQUENCE}}} needs `model.use_remove_padding`, which is off",
            "set it to `True`",
        ),
        Refused(
            lambda v: v.given(f"{_ACTOR}loss_agg_mode") and v.text(f"{_ACTOR}loss_agg_mode") not in _MODES,
            f"`loss_agg_mode` is `{{{_ACTOR}loss_agg_mode}}`",
            f"write one of {', '.join(f'`{mode}`' for mode in _MODES)}",
        ),
        Refused(
            lambda v: _gpus(v) % v.number(_TENSOR) != 0,
            f"the GPUs, {{trainer.nnodes}} x {{trainer.n_gpus_per_node}}, are not a multiple of the "
            f"`rollout.tensor_model_parallel_size` {{{_TENSOR}}}",
            "write a size that divides them",
        ),
    ),
    (
        Refused(
            lambda v: (
                v.text(f"{_ROLLOUT}name") == "vllm"
                and not v.given(f"{_ROLLOUT}max_model_len")
                and v.off(f"{_ROLLOUT}enable_chunked_prefill")
                and v.number("data.max_prompt_length") + v.number("data.max_response_length")
                > v.number(f"{_ROLLOUT}max_num_batched_tokens")
            ),
            f"without chunked prefill, `max_num_batched_tokens` of vLLM must hold a prompt and an answer, "
            f"{{data.max_prompt_length}} + {{data.max_response_length}}, but it is "
            f"{{{_ROLLOUT}max_num_batched_tokens}}; releases of verl up to 0.7 do not raise it",
            "raise it, or leave chunked prefill on",
        ),
    ),
)

_ROLLOUT_BATCH, _GLOBAL_BATCH = "data.rollout_batch_size", "worker.actor.global_batch_size"
EASY_R1 = Program(
    "EasyR1",
    {"trainer.nnodes": 1},
    (
        Refused(
            lambda v: v.number(_ROLLOUT_BATCH) % v.number(_GLOBAL_BATCH) != 0,
            f"`rollout_batch_size` {{{_ROLLOUT_BATCH}}} is not a multiple of the `global_batch_size` "
            f"{{{_GLOBAL_BATCH}}}",
            "write a multiple",
        ),
        Refused(
            lambda v: not v.on("data.mini_rollout_batch_size") and v.number(_ROLLOUT_BATCH) % _gpus(v) != 0,
            f"the `rollout_batch_size` {{{_ROLLOUT_BATCH}}} cannot be split evenly over the GPUs, "
            "{trainer.nnodes} x {trainer.n_gpus_per_node}",
            "write a multiple of the GPUs",
        ),
    ),
)

_APART = "policy.generation.colocated."
_PACKING, _DYNAMIC_BATCHES = "policy.sequence_packing.enabled", "policy.dynamic_batching.enabled"
_MCORE, _DTENSOR = "policy.megatron_cfg.", "policy.dtensor_cfg."
NEMO_RL = Program(
    "NeMo RL",
    {},
    (
        Refused(
            lambda v: (
                "colocated" not in v.text("config")
                and not v.given(f"{_APART}resources.gpus_per_node")
                and v.off(f"{_APART}enabled")
            ),
            f"generation on GPUs of its own needs `{_APART}resources.gpus_per_node`, which has no value",
            "set it to the GPUs of a node",
        ),
        Refused(
            lambda v: v.on(_PACKING) and v.on(_DYNAMIC_BATCHES),
            "sequence packing and dynamic batching exclude each other",
            "turn one off",
        ),
        Refused(
            lambda v: v.on(f"{_MCORE}enabled") and v.on(f"{_DTENSOR}enabled"),
            "the backends `megatron_cfg` and `dtensor_cfg` are both enabled",
            "turn one off",
        ),
        Refused(
            lambda v: v.on(f"{_MCORE}enabled") and v.number(f"{_MCORE}context_parallel_size") > 1 and v.off(_PACKING),
            f"context parallelism ({{{_MCORE}context_parallel_size}}) of Megatron needs sequence packing, which is off",
            f"set `{_PACKING}` to `true`",
        ),
        Refused(
            lambda v: (
                v.on(f"{_MCORE}enabled")
                and v.on(_DYNAMIC_BATCHES)
                and v.number(f"{_MCORE}pipeline_model_parallel_size") > 1
            ),
            "dynamic batching works with one pipeline stage, and there are several",
            "turn it off",
        ),
    ),
)

_ESTIMATORS = ("rloo", "reinforce_baseline", "group_norm")


def _ranks(v: Told, role: str) -> float:
    return v.number(f"{role}_num_nodes") * v.number(f"{role}_num_gpus_per_node")


OPEN_RLHF = Program(
    "OpenRLHF",
    {
        "n_samples_per_prompt": 1, "init_kl_coef": 0.01, "actor_num_nodes": 1, "actor_num_gpus_per_node": 8,
        "ref_num_nodes": 1, "ref_num_gpus_per_node": 8, "vllm_tensor_parallel_size": 1,
    },
    (
        Refused(
            lambda v: v.text("advantage_estimator") in _ESTIMATORS and v.number("n_samples_per_prompt") <= 1,
            "the estimator `{advantage_estimator}` compares answers to a prompt, and `n_samples_per_prompt` is "
            "{n_samples_per_prompt}",
            "write at least 2",
        ),
        Refused(
            lambda v: (
                (v.on("colocate_all_models") or v.on("colocate_actor_ref"))
                and v.number("init_kl_coef") > 0
                and _ranks(v, "ref") != _ranks(v, "actor")
            ),
            "colocated models share GPUs, and the actor has {actor_num_nodes} x {actor_num_gpus_per_node}, the "
            "reference model {ref_num_nodes} x {ref_num_gpus_per_node}",
            "write the same for both",
        ),
        Refused(
            lambda v: (
                v.on("colocate_all_models")
                and not v.on("async_train")
                and v.on("vllm_num_engines")
                and v.number("vllm_num_engines") * v.number("vllm_tensor_parallel_size") != _ranks(v, "actor")
            ),
            "colocated engines take the GPUs of the actor, {actor_num_nodes} x {actor_num_gpus_per_node}, and they are "
            "{vllm_num_engines} x {vllm_tensor_parallel_size}",
            "write as many engines times tensor-parallel size as the actor has GPUs",
        ),
    ),
)  # fmt: skip

# The other trainers of OpenRLHF start under `deepspeed`, and DeepSpeed compares the three sizes.
OPEN_RLHF_TRAINER = Program(
    "OpenRLHF",
    {},
    (
        Refused(
            lambda v: (
                not v.given("ring_attn_size")
                and not v.given("ds_tensor_parallel_size")
                and v.number("train_batch_size") % (v.number("ranks") * v.number("micro_train_batch_size")) != 0
            ),
            "`train_batch_size` {train_batch_size} is not a multiple of the `micro_train_batch_size` "
            "{micro_train_batch_size} times {ranks} ranks",
            "write a multiple of both",
        ),
    ),
)

LLM_FOUNDRY = Program(
    "LLM Foundry",
    {},
    (
        Refused(
            lambda v: (
                not v.on("tp_config")
                and v.number("ranks") > 1
                and v.number("global_train_batch_size") % v.number("ranks") != 0
            ),
            "`global_train_batch_size` {global_train_batch_size} cannot be split evenly over {ranks} ranks",
            "write a multiple of the ranks",
        ),
    ),
)

DEEPSPEED = Program(
    "DeepSpeed",
    {},
    (),
    (
        Refused(
            lambda v: v.number("zero_optimization.stage") == 3 and v.number("tensor_parallel.autotp_size") > 1,
            "`autotp_size` {tensor_parallel.autotp_size} with ZeRO stage 3: releases of DeepSpeed up to 0.19.0 have "
            "tensor parallelism with the stages 0 to 2 only",
            "write a stage of 2 or less",
        ),
    ),
)
