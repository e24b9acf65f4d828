"""How long, in which steps and how precisely."""

from __future__ import annotations

from dataclasses import dataclass

from trainer.config.option import option


@dataclass(frozen=True, kw_only=True)
class OptimizationConfig:
    """AdamW on global batches. No field depends on the world size, so that it may change between restarts."""

    epochs: int = option(3, "number of epochs to train, including those before a resume", at_least=1)
    steps: int = option(0, "stop after N steps, including those before a resume (0: train for epochs)", at_least=0)
    batch_size: int = option(32, "global batch size: samples per step over all ranks", at_least=1)
    micro_batch_size: int = option(
        0,
        "samples per rank and forward pass; gradients are accumulated over the rank's share (0: no accumulation)",
        at_least=0,
    )
    learning_rate: float = option(0.002, "learning rate of AdamW after the warm-up", above=0)
    schedule: str = option(
        "constant",
        "learning rate schedule: constant, or cosine (decays to 0 at the last step)",
        choices=("constant", "cosine"),
    )
    warmup_steps: int = option(0, "steps of linear warm-up of the learning rate from 0", at_least=0)
    weight_decay: float = option(0.01, "weight decay of AdamW", at_least=0)
    clip_norm: float = option(
        0.0, "maximum gradient norm; larger gradients are scaled down (0: no clipping)", at_least=0
    )
    precision: str = option(
        "fp32",
        "precision of the computation; parameters and optimizer state stay in fp32",
        choices=("fp32", "bf16", "fp16"),
    )
    seed: int = option(
        0,
        "random seed of the initial weights, the train/test split, the data order and dropout",
        at_least=0,
        below=2**63,
    )
