"""`--gradient_checkpointing` under FSDP gathers the parameters once more in each backward pass, which costs time.

FSDP with full sharding gathers the parameters of a layer before its forward and its backward pass. The checkpoints of
`--gradient_checkpointing` run the forward of the layer again inside of its backward, outside of FSDP's plan, and FSDP
gathers the parameters a third time. `activation_checkpointing` of FSDP wraps the layers in the right order. The Trainer
warns of it. Release 5 calls the argument `--activation_checkpointing`.

The rule looks at commands with `--per_device_train_batch_size` and `--fsdp "full_shard ..."`, or at FSDP with
`FULL_SHARD` in the file of `accelerate launch`.

Write `activation_checkpointing` into the configuration of FSDP, and remove the argument.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.accelerate import accelerate_scripts
from trainyard.analysis.launchers.accelerate_config import config_of
from trainyard.analysis.launchers.trainer_flags import flag_on
from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Command, Container

_SIGN, _SWITCHES = "--per-device-train-batch-size", ("--gradient-checkpointing", "--activation-checkpointing")


@rule(
    code="TD076",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "transformers 5.23.0 training_args.py: the former introduces a redundant AllGather operation in backward pass",
        "github.com/huggingface/transformers issue 30404 and pull 31578",
    ),
    needs=("_checkpointing", "-checkpointing"),
)
def trainer_checkpointing_under_fsdp(container: Container, context: Context) -> Iterator[Problem]:
    """Report checkpoints of the Trainer under FSDP."""
    for command in container.commands:
        places = (flag_on(command, name) for name in _SWITCHES if command.has(_SIGN))
        at = next((place for place in places if place is not None), None)
        if at is not None and (_is_sharded(command.option("--fsdp") or "") or _by_file(command, container, context)):
            yield Problem(
                at,
                "gradient_checkpointing of the Trainer gathers all parameters of FSDP once more in each backward pass",
                "turn on `activation_checkpointing` in the configuration of FSDP instead",
            )


def _is_sharded(told: str) -> bool:
    return "full_shard" in told.split() or "hybrid_shard" in told.split()


def _by_file(command: Command, container: Container, context: Context) -> bool:
    launch = next((launch for launch, _ in accelerate_scripts(container) if launch.at == command.at), None)
    config = config_of(launch, context.project) if launch is not None else None
    if config is None or text(config.tree, "distributed_type") != "FSDP":
        return False
    fsdp = mapping(config.tree, "fsdp_config")
    # TD075 reports both switches together.
    both = str(fsdp.get("fsdp_activation_checkpointing")).lower() == "true"
    return not both and str(fsdp.get("fsdp_sharding_strategy")).upper() in ("FULL_SHARD", "HYBRID_SHARD", "1")
