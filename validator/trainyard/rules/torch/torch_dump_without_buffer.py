"""The flight recorder's buffer has size 0, so a dump after a hang is empty.

When a collective times out, `TORCH_NCCL_DUMP_ON_TIMEOUT` makes every rank dump its last collectives, and a pipe of
`TORCH_NCCL_DEBUG_INFO_PIPE_FILE` lets you request a dump at any time. Both read a ring buffer of `TORCH_FR_BUFFER_SIZE`
entries (`TORCH_NCCL_TRACE_BUFFER_SIZE` in older releases, and still an alias). With 0 entries nothing is recorded, and
the dump files are empty.

The buffer holds 2000 entries by default in current releases, but none up to PyTorch 2.5, where it must be set. The
version comes from the target, or from the image; without one, the rule reports only a size that is written as 0.

Write a size of 2000 or more.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis import versions
from trainyard.analysis.pods.environment import has_unknown_variables, set_variable
from trainyard.analysis.pods.settings import change_value
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.programs.torch_variables import TRUE
from trainyard.facts.versions import before
from trainyard.model.run import Container, Setting

# Two names of one setting; if both are set, PyTorch uses the first.
SIZES = ("TORCH_FR_BUFFER_SIZE", "TORCH_NCCL_TRACE_BUFFER_SIZE")
SWITCHES = ("TORCH_FR_DUMP_ON_TIMEOUT", "TORCH_NCCL_DUMP_ON_TIMEOUT")
PIPE = "TORCH_NCCL_DEBUG_INFO_PIPE_FILE"
DEFAULT_SURELY_ZERO_BEFORE = (2, 6)
ENTRIES = "2000"


@rule(
    code="TD004",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "pytorch 2.15.0 torch/csrc/distributed/c10d/FlightRecorder.hpp: FlightRecorder, enabled_",
        "pytorch docs torch_nccl_environment_variables: TORCH_NCCL_DUMP_ON_TIMEOUT",
    ),
    fix="safe",
    needs=("TORCH_FR_", "TORCH_NCCL_"),
)
def torch_dump_without_buffer(container: Container, context: Context) -> Iterator[Problem]:
    """A dump of a flight recorder without a buffer."""
    asked = _asked(container)
    if asked is None:
        return
    size = next((setting for name in SIZES if (setting := container.setting(name)) is not None), None)
    if size is not None:
        if size.value is not None and size.value.strip() == "0":
            yield Problem(
                asked.at,
                f"{asked.name} dumps nothing: {size.name} is 0",
                f"set {size.name} to {ENTRIES} or more",
                change_value(size, ENTRIES),
                ((size.at, "the size of the buffer"),),
            )
        return
    release = versions.torch(context, container)
    if before(release.version, DEFAULT_SURELY_ZERO_BEFORE) and not has_unknown_variables(container, context):
        yield Problem(
            asked.at,
            f"{asked.name} dumps nothing: {SIZES[1]} is 0 by default up to PyTorch 2.5",
            f"set {SIZES[1]} to {ENTRIES} or more",
            set_variable(asked, SIZES[1], ENTRIES),
            rests_on=release,
        )


def _asked(container: Container) -> Setting | None:
    """The setting that enables a dump."""
    for name in SWITCHES:
        setting = container.setting(name)
        if setting is not None and (setting.value or "").lower() in TRUE:
            return setting
    setting = container.setting(PIPE)
    return setting if setting is not None and setting.value else None
