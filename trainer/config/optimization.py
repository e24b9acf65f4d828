"""Length of the training, its steps and their precision."""

from __future__ import annotations

from dataclasses import dataclass

from .option import option


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
        "learning rate schedule: constant, or cosine (decays to min_learning_rate at the last step)",
        choices=("constant", "cosine"),
    )
    min_learning_rate: float = option(0.0, "learning rate at the end of the cosine schedule", at_least=0)
    warmup_steps: int = option(0, "steps of linear warm-up of the learning rate from 0", at_least=0)
    weight_decay: float = option(0.01, "weight decay of AdamW", at_least=0)
    weight_decay_scope: str = option(
        "all",
        "parameters that decay: all, or matrices (not those of norms, biases and embeddings)",
        choices=("all", "matrices"),
    )
    adam_beta1: float = option(0.9, "decay rate of AdamW's mean of gradients", at_least=0, below=1)
    adam_beta2: float = option(0.999, "decay rate of AdamW's mean of squared gradients", at_least=0, below=1)
    adam_eps: float = option(1e-8, "epsilon of AdamW", above=0)
    clip_norm: float = option(
        0.0, "maximum gradient norm; larger gradients are scaled down (0: no clipping)", at_least=0
    )
    precision: str = option(
        "auto",
        "precision of the computation: bf16 on GPUs that support it, else fp32 (auto), or as set; parameters and "
        "optimizer state stay in fp32",
        choices=("auto", "fp32", "bf16", "fp16"),
    )
    tf32: bool = option(False, "multiply fp32 matrices in TF32 on GPUs that support it")
    seed: int = option(
        0,
        "random seed of the initial weights, the train/test split, the data order and dropout",
        at_least=0,
        below=2**63,
    )
