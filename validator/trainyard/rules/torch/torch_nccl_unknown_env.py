"""No PyTorch release reads a variable of this name, so the setting has no effect and nothing says so.

torch.distributed looks up a fixed set of variables that begin with `TORCH_NCCL_` and `TORCH_FR_`; a name that is
misspelt, or that lacks the prefix (`NCCL_HEARTBEAT_TIMEOUT_SEC`), is never asked for. Neither PyTorch nor NCCL warns.
It shows on the day on which the setting is needed: the watchdog gives up after its default of eight minutes, or a hang
leaves no flight recorder dump behind.

The list holds the names of PyTorch 2.2 to 2.15. Five names without the prefix are aliases and another rule's; names
that went out of use are another rule's too.

Correct the name; the finding names the nearest one.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects.settings import name_at, renamed
from validator.facts.nccl import variables
from validator.facts.torch_variables import KNOWN, LEGACY
from validator.model import Setting
from validator.rule import Problem, rule
from validator.spelling import closest

PREFIXES = ("TORCH_NCCL_", "TORCH_FR_")
SIMILARITY = 0.85


@rule(
    code="TD002",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "pytorch 2.15.0 torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp, FlightRecorder.hpp: the names that are read",
        "pytorch docs torch_nccl_environment_variables",
    ),
    fix="unsafe",
    needs=("TORCH_", "NCCL_"),
)
def torch_nccl_unknown_env(setting: Setting) -> Iterator[Problem]:
    """A name that torch.distributed does not ask for."""
    meant = _meant(setting.name)
    if meant is None:
        return
    yield Problem(
        name_at(setting),
        f"PyTorch reads no variable {setting.name}: it has no effect",
        f"did you mean {meant}?" if meant else "remove it, or correct its name",
        renamed(setting, meant) if meant else (),
    )


def _meant(name: str) -> str | None:
    """The name that was meant, empty where none is near; None where the name is known, or not PyTorch's."""
    if name in KNOWN or name in LEGACY:
        return None
    if f"TORCH_{name}" in KNOWN and name not in variables():
        return f"TORCH_{name}"
    if not name.startswith(PREFIXES):
        return None
    return closest(name, sorted(KNOWN), SIMILARITY) or ""
