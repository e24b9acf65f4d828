"""`NCCL_DEBUG_SUBSYS` names a subsystem that does not exist, so its lines are missing from the log.

Up to 2.30.4 NCCL skips an unknown name; since 2.30.7 it drops the whole value and logs the default subsystems. There is
no message in either case. A `^` counts only at the start and inverts the whole list, so in `INIT,^NET` it is part of a
name. Before 2.30.7 spaces count: ` NET` after a comma is unknown.

The names are INIT, COLL, P2P, SHM, NET, GRAPH, TUNING, ENV, ALLOC, ALLOC_HOST, CALL, PROXY, NVLS, BOOTSTRAP, REG,
PROFILE, RAS, DESTROY and ALL, in upper or lower case. Older releases have fewer.

Write names from this list, separated by commas without spaces.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.settings import change_value, literal_value
from trainyard.engine.rule import Context, Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.facts.nccl.releases import has_reached
from trainyard.model.run import Setting

SUBSYSTEMS = (
    "INIT", "COLL", "P2P", "SHM", "NET", "GRAPH", "TUNING", "ENV", "ALLOC", "ALLOC_HOST", "CALL", "PROXY", "NVLS",
    "BOOTSTRAP", "REG", "PROFILE", "RAS", "DESTROY", "ALL",
)  # fmt: skip
TRIMS = (2, 30, 7)


@rule(
    code="NC019",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/nccl v2.30.7-1 src/debug.cc: ncclParamDebugSubsys; src/include/param/parser_bitset.h: bitsetResolve",
        "NVIDIA/nccl v2.29.7-1 src/debug.cc: ncclDebugInit",
    ),
    fix="safe",
    needs=("NCCL_DEBUG_SUBSYS",),
)
def nccl_debug_subsys_unknown(setting: Setting, context: Context) -> Iterator[Problem]:
    """An unknown subsystem."""
    value = literal_value(setting) if setting.name == "NCCL_DEBUG_SUBSYS" else None
    if not value:
        return
    sign = "^" if value[0] == "^" else ""
    target = context.target.nccl
    trims = target is None or has_reached(target, TRIMS)
    names = [name.strip() if trims else name for name in value[len(sign) :].split(",")]
    unknown = [name for name in names if name and name.upper() not in SUBSYSTEMS]
    if not unknown:
        return
    meant = [_meant(name) for name in names if name.strip()]
    right = None if None in meant else sign + ",".join(name for name in meant if name)
    yield Problem(
        setting.at,
        f"`{unknown[0]}` is not an NCCL subsystem: the log lacks the lines that it should show",
        f'write "{right}"' if right else f"use names from {', '.join(SUBSYSTEMS)}",
        change_value(setting, right) if right else (),
    )


def _meant(name: str) -> str | None:
    word = name.strip().upper()
    if word in SUBSYSTEMS:
        return name.strip()
    found = [known for known in SUBSYSTEMS if word.startswith(known)]
    if not found:
        return closest_match(word, SUBSYSTEMS, 0.75)
    return found[0] if len(found) == 1 else None
