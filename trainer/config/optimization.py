"""How long, in which steps and how precisely."""

from dataclasses import dataclass

from trainer.config.option import option


@dataclass(frozen=True, kw_only=True)
class OptimizationConfig:
    """AdamW on global batches. Nothing here depends on the number of ranks, so that it may change under way."""

    epochs: int = option(3, "train until this many epochs are done, resumed ones included", at_least=1)
    steps: int = option(0, "end after this many steps, resumed ones included; 0 leaves it to epochs", at_least=0)
    batch_size: int = option(32, "samples per step over all ranks together (global)", at_least=1)
    micro_batch_size: int = option(
        0, "samples that a rank computes at once: its part of a batch is accumulated from them; 0 is all", at_least=0
    )
    learning_rate: float = option(0.002, "AdamW's learning rate, after the warm-up", above=0)
    schedule: str = option(
        "constant",
        "of the learning rate: constant, or cosine down to nothing at the end",
        choices=("constant", "cosine"),
    )
    warmup_steps: int = option(0, "steps in which the learning rate rises from nothing", at_least=0)
    weight_decay: float = option(0.01, "AdamW's weight decay", at_least=0)
    clip_norm: float = option(0.0, "gradients whose norm is larger are scaled down to it; 0 is none", at_least=0)
    precision: str = option(
        "fp32", "of the computation; parameters and optimizer stay fp32", choices=("fp32", "bf16", "fp16")
    )
    seed: int = option(0, "fixes initial weights, train/test split, order and dropout", at_least=0, below=2**63)
