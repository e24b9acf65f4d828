"""A variable of torch.distributed has a value that PyTorch cannot parse, so every rank fails at start.

PyTorch reads the variables when it creates the NCCL process group. A switch accepts y, yes, 1, t, true and n, no, 0, f,
false in any case; a number must begin with digits and fit into 32 bits. Any other value, including an empty one, ends
or hangs every rank with `Invalid value for environment variable`, after the image was pulled and the GPUs were
allocated. The usual mistakes are `on`, `off` and `enabled`, and `true` for a number. PyTorch ignores a unit after a
number: `30m` is 30.

`TORCH_NCCL_ASYNC_ERROR_HANDLING` is a number from 0 to 3: nothing, tear down, clean up, tear down without clean-up.
PyTorch accepts other numbers, but their behaviour is not documented.

Write `"1"` or `"0"`, or a number.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.settings import change_value, literal_value
from trainyard.engine.rule import Problem, rule
from trainyard.facts.programs.torch_variables import BOOLEANS, FALSE, INTEGERS, TRUE
from trainyard.model.run import Setting
from trainyard.startup import pattern

ON = ("on", "enable", "enabled")
OFF = ("off", "disable", "disabled")
MODES = range(4)
LONGEST = 30
_NUMBER = pattern(r"\s*[+-]?[0-9]+")
_MORE = pattern(r"\s*[^\s.]|\.0*[1-9]")


@rule(
    code="TD003",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "pytorch 2.15.0 torch/csrc/distributed/c10d/Utils.hpp: getCvarBool, getCvarInt",
        "pytorch 2.15.0 on CPU: TORCH_FR_BUFFER_SIZE and TORCH_FR_CPP_STACK with such values (seen)",
        "pytorch docs torch_nccl_environment_variables: TORCH_NCCL_ASYNC_ERROR_HANDLING",
    ),
    fix="safe",
    needs=("TORCH_", "NCCL_"),
)
def torch_cvar_value_invalid(setting: Setting) -> Iterator[Problem]:
    """A value that PyTorch cannot parse."""
    value = literal_value(setting)
    if value is None:
        return
    if setting.name in BOOLEANS and value.lower() not in TRUE + FALSE:
        yield _switch(setting, value)
    elif setting.name in INTEGERS:
        yield from _number(setting, value)


def _number(setting: Setting, value: str) -> Iterator[Problem]:
    match = _NUMBER.match(value)
    if match is None or len(match[0]) > LONGEST or not -(2**31) <= int(match[0]) < 2**31:
        message = f"every rank fails: {setting.name}=`{value}` is not a 32-bit number"
        yield Problem(setting.at, message, "write a whole number")
    elif _MORE.match(value[match.end() :]):
        yield Problem(
            setting.at,
            f"PyTorch reads {setting.name}=`{value}` as {int(match[0])} or rejects it: it does not parse units",
            "write a whole number without a unit",
        )
    elif setting.name.endswith("ASYNC_ERROR_HANDLING") and int(match[0]) not in MODES:
        yield Problem(
            setting.at,
            f"{setting.name}={int(match[0])} is not a documented mode (0 to 3)",
            "write 3, the default: the process ends on an error without waiting for NCCL",
        )


def _switch(setting: Setting, value: str) -> Problem:
    word = value.lower()
    meant = "1" if word in ON else "0" if word in OFF else None
    return Problem(
        setting.at,
        f"every rank fails: {setting.name}=`{value}` is neither true nor false",
        f'write "{meant}"' if meant else 'write "1" or "0"',
        change_value(setting, meant) if meant else (),
    )
