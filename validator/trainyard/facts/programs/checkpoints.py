"""Options of training programs that name the folder or the file of their checkpoints."""

from __future__ import annotations

from trainyard.startup import NamedTuple


class CheckpointOption(NamedTuple):
    """An option with dashes for underscores, as `Command.option` takes it, and its source.

    An option without dashes at its start is written `name=value`, as Hydra and OmegaConf read it. `is_common` is true
    for a name that other programs use for other things: only an absolute path counts.
    """

    name: str
    source: str
    is_common: bool = False


_CUSTOM = "options of training scripts in the examples of PyTorch, Kubeflow and cloud providers"
_MEGATRON = "NVIDIA/Megatron-LM megatron/training/arguments.py: --save, output directory to save checkpoints to"
_HUGGING_FACE = "huggingface/transformers 5.23.0 TrainingArguments.output_dir"
_FACTORY = "hiyouga/LLaMA-Factory hparams/parser.py: read_args merges name=value"
_TITAN = "pytorch/torchtitan 0.2 config/job_config.py: checkpoints are in {job.dump_folder}/{checkpoint.folder}"
_NEMO = "NVIDIA/NeMo nemo/utils/exp_manager.py: exp_dir, explicit_log_dir"
_LIGHTNING = "Lightning 2.6 Trainer.default_root_dir, and LightningCLI"
_COMPOSER = "mosaicml/composer Trainer.save_folder, mosaicml/llm-foundry train.py"
_VERL = "volcengine/verl trainer/config/ppo_trainer.yaml: trainer.default_local_dir"

OPTIONS = (
    *(
        CheckpointOption(name, _CUSTOM)
        for name in (
            "--checkpoint-dir", "--checkpoints-dir", "--checkpoint-path", "--checkpoint-folder", "--checkpoint-file",
            "--ckpt-dir", "--ckpt-path", "--save-dir", "--save-path",
        )
    ),
    CheckpointOption("--out-dir", "karpathy/nanoGPT train.py: out_dir", is_common=True),
    CheckpointOption("--save", _MEGATRON, is_common=True),
    CheckpointOption("--output-dir", _HUGGING_FACE),
    CheckpointOption("output-dir", _FACTORY, is_common=True),
    CheckpointOption("--job.dump-folder", _TITAN),
    CheckpointOption("--checkpoint.folder", _TITAN, is_common=True),
    CheckpointOption("exp-manager.exp-dir", _NEMO),
    CheckpointOption("exp-manager.explicit-log-dir", _NEMO),
    CheckpointOption("--default-root-dir", _LIGHTNING),
    CheckpointOption("--trainer.default-root-dir", _LIGHTNING),
    CheckpointOption("trainer.default-root-dir", _LIGHTNING),
    CheckpointOption("save-folder", _COMPOSER, is_common=True),
    CheckpointOption("trainer.default-local-dir", _VERL),
)  # fmt: skip
# Hydra takes `+name=value` for a name that the configuration lacks, and `++` for any.
NAMES = frozenset(
    prefix + option.name for option in OPTIONS for prefix in (("",) if option.name.startswith("-") else ("", "+", "++"))
)
COMMON = frozenset(option.name for option in OPTIONS if option.is_common)
