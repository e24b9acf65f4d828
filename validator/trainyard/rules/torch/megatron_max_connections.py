"""Megatron stops, because tensor or context parallelism needs `CUDA_DEVICE_MAX_CONNECTIONS=1` on Hopper and older GPUs.

Megatron-LM overlaps communication with computation by the order in which it launches kernels. The GPU keeps this order
only with one hardware queue. `arguments.py` asserts the variable if `--tensor-model-parallel-size` or
`--context-parallel-size` is above 1, and each process stops at start-up. Blackwell GPUs do not need it. With the FSDP
of Megatron or of PyTorch the variable must not be 1: `arguments.py` refuses it, and the rule reports it.

The rule checks commands that start a `pretrain_*.py`. It accepts a missing variable in images of NVIDIA NeMo, which set
it.

Set `CUDA_DEVICE_MAX_CONNECTIONS` to 1, or remove it with FSDP.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.environment import has_unknown_variables
from trainyard.analysis.pods.settings import change_value
from trainyard.document.lookup import decimal
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Command, Container

VARIABLE = "CUDA_DEVICE_MAX_CONNECTIONS"
SIZES = ("--tensor-model-parallel-size", "--context-parallel-size")
# These refuse the value 1.
FSDP = ("--use-torch-fsdp2", "--use-megatron-fsdp", "--use-custom-fsdp")
# With these options, Megatron does not check the variable, or requires another value.
OTHERS = (*FSDP, "--overlap-moe-expert-parallel-comm")


@rule(
    code="TD016",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/Megatron-LM core_v0.15.0 megatron/training/arguments.py: CUDA_DEVICE_MAX_CONNECTIONS",
        "github.com/alibaba/Megatron-LLaMA issue 44",
    ),
    fix="unsafe",
    needs=("--tensor-model-parallel-size", "--context-parallel-size", "fsdp"),
)
def megatron_max_connections(container: Container, context: Context) -> Iterator[Problem]:
    """A variable that Megatron asserts."""
    if not container.gpus or has_unknown_variables(container, context):
        return
    setting = container.setting(VARIABLE)
    if setting is not None and setting.value == "1":
        fsdp = next((name for one in container.commands if _is_megatron(one) for name in FSDP if one.has(name)), "")
        if fsdp:
            yield Problem(setting.at, f"{VARIABLE} is 1, and Megatron stops with {fsdp}", "remove the variable")
        return
    if setting is not None and (setting.value is None or "$" in setting.value):
        return
    if setting is None and "nemo" in (container.image or "").lower():
        return
    for command in container.commands:
        option = _parallel(command)
        if option is None:
            continue
        what = "is not set" if setting is None else f"is {setting.value}"
        yield Problem(
            command.option_at(option)[1] if setting is None else setting.at,  # type: ignore[index]
            f"{VARIABLE} {what}, but Megatron stops with {option} on GPUs before Blackwell",
            f"set {VARIABLE} to 1",
            () if setting is None else change_value(setting, "1"),
        )
        return


def _is_megatron(command: Command) -> bool:
    return any(word.rsplit("/", 1)[-1].startswith("pretrain_") for word in command.words)


def _parallel(command: Command) -> str | None:
    """Returns the option that needs the variable."""
    if command.has(*OTHERS) or not _is_megatron(command):
        return None
    return next((name for name in SIZES if (decimal(command.option(name) or "") or 1) > 1), None)
