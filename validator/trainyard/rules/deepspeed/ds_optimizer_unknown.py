"""DeepSpeed knows no optimizer or scheduler of this name, so every process stops at start-up.

`optimizer.type` is one of DeepSpeed's own in any case (`Adam`, `AdamW`, `Lamb`, `Lion`, `Muon` ...) or a class of
`torch.optim` as it is written there. Offloading chooses the Adam for the CPU itself: there is no `cpu_adam`.
`scheduler.type` is one of `LRRangeTest`, `OneCycle`, `WarmupLR`, `WarmupDecayLR` and `WarmupCosineLR`, or a class of
`torch.optim.lr_scheduler`.

Write one of these names.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.model.run import DeepSpeed

_OWN = frozenset(
    (
        "adagrad", "adam", "adamw", "lamb", "muadam", "muadamw", "musgd", "lion", "muon", "onebitadam", "onebitlamb",
        "zerooneadam",
    )
)  # fmt: skip
_OF_TORCH = (
    "ASGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "LBFGS", "Muon", "NAdam", "RAdam", "RMSprop",
    "Rprop", "SGD", "SparseAdam",
)  # fmt: skip
_SCHEDULERS = (
    "LRRangeTest", "OneCycle", "WarmupLR", "WarmupDecayLR", "WarmupCosineLR",
    "ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "CyclicLR", "ExponentialLR",
    "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR", "MultiplicativeLR", "OneCycleLR", "PolynomialLR",
    "ReduceLROnPlateau", "SequentialLR", "StepLR",
)  # fmt: skip


@rule(
    code="DS026",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "deepspeedai/DeepSpeed 0.19.8 runtime/config.py: DEEPSPEED_OPTIMIZERS; engine.py: _is_supported_optimizer",
        "deepspeedai/DeepSpeed 0.19.8 runtime/lr_schedules.py: VALID_LR_SCHEDULES; pytorch 2.15.0 torch.optim",
        "github.com/deepspeedai/DeepSpeed issue 4042",
    ),
)
def ds_optimizer_unknown(deepspeed: DeepSpeed) -> Iterator[Problem]:
    """Report names of optimizers and schedulers that do not exist."""
    name = mapping(deepspeed.config, "optimizer").get("type")
    if isinstance(name, str) and name.lower() not in _OWN and name not in _OF_TORCH and _is_name(name):
        near = closest_match(name, ("Adam", "AdamW", *_OF_TORCH), 0.7)
        yield Problem(
            deepspeed.at.child("optimizer", "type"),
            f"DeepSpeed and torch.optim have no optimizer `{name}`: every process stops",
            f"did you mean `{near}`?" if near is not None else "write `AdamW`",
        )
    name = mapping(deepspeed.config, "scheduler").get("type")
    if isinstance(name, str) and name not in _SCHEDULERS and _is_name(name):
        near = closest_match(name, _SCHEDULERS, 0.7)
        yield Problem(
            deepspeed.at.child("scheduler", "type"),
            f"DeepSpeed and torch.optim have no scheduler `{name}`: every process stops",
            f"did you mean `{near}`?" if near is not None else "write `WarmupDecayLR`",
        )


def _is_name(name: str) -> bool:
    return name != "auto" and name.replace("_", "").isalnum()
