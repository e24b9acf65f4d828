"""No PyTorch release reads a variable of this name, so it has no effect and nothing reports it.

torch.distributed looks up a fixed set of variables that begin with `TORCH_NCCL_` and `TORCH_FR_`. It never reads a name
that is misspelt, or that lacks the prefix (`NCCL_HEARTBEAT_TIMEOUT_SEC`). Neither PyTorch nor NCCL warns. The mistake
shows when the setting is needed: the watchdog gives up after its default of eight minutes, or a hang leaves no flight
recorder dump.

The list holds the names of PyTorch 2.2 to 2.15. Other rules cover five names without the prefix, which are aliases, and
obsolete names.

Correct the name; the finding names the nearest one.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.settings import name_at, rename_variable
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.facts.nccl.registry import nccl_variables
from trainyard.facts.programs.torch_variables import KNOWN, LEGACY
from trainyard.model.run import Setting

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
    """A name that torch.distributed does not read."""
    meant = _meant(setting.name)
    if meant is None:
        return
    yield Problem(
        name_at(setting),
        f"no PyTorch release reads {setting.name}: it has no effect",
        f"did you mean {meant}?" if meant else "remove it, or correct its name",
        rename_variable(setting, meant) if meant else (),
    )


def _meant(name: str) -> str | None:
    """The nearest known name, empty if none is near; None if the name is known or does not belong to PyTorch."""
    if name in KNOWN or name in LEGACY:
        return None
    if f"TORCH_{name}" in KNOWN and name not in nccl_variables():
        return f"TORCH_{name}"
    if not name.startswith(PREFIXES):
        return None
    return closest_match(name, sorted(KNOWN), SIMILARITY) or ""
