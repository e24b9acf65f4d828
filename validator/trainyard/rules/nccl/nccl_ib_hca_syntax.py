"""An entry of `NCCL_IB_HCA` has a form that matches no adapter, so the adapter it means is not used.

The value is a list with commas; an entry is an adapter's name, and optionally `:port`, in NCCL 2.30 also `:rail` and
`:plane`. NCCL knows neither wildcards nor regular expressions: `mlx5_*` is an adapter with a star in its name. A
blank behind a comma belongs to the name. A port that is no number is port 0, and ports count from 1. Only the first
32 entries are read, and before 2.30 all behind the port is dropped. If nothing matches, NCCL says that it found no
device and falls back to sockets.

Write full names with `=` in front, or a common prefix without it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from validator.aspects.settings import literal
from validator.facts import nccl_lists
from validator.model import Setting
from validator.rule import Context, Problem, rule

LIMIT = 32
RAILS = (2, 30)
# A dot may be the mark of a VLAN in the name; at the end it is meant as "any character".
FOREIGN = re.compile(r"[\s*?\[\](){}|\\/;+'\"]|\.$")


@rule(
    code="NC012",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/nccl v2.30.7-1 src/misc/utils.cc: parseStringList; v2.28.9-1 the same, without rail and plane",
        "NVIDIA/nccl v2.30.7-1 docs/userguide/source/env.rst: NCCL_IB_HCA",
    ),
    needs=("NCCL_IB_HCA",),
)
def nccl_ib_hca_syntax(setting: Setting, context: Context) -> Iterator[Problem]:
    """An entry that no adapter can match."""
    value = literal(setting) if setting.name == nccl_lists.ADAPTERS else None
    entries = nccl_lists.read(value or "").entries
    target = context.target.nccl
    for entry in entries:
        fault = _fault(entry, target is not None and target < RAILS)
        if fault is not None:
            yield Problem(
                setting.at, f"`{entry}` matches no adapter: {fault}", "write `name` or `name:port`, with commas"
            )
            return
    if len(entries) > LIMIT:
        yield Problem(
            setting.at,
            f"NCCL reads the first {LIMIT} of these {len(entries)} adapters",
            "use a common prefix, or leave the rest out with `^=`",
        )


def _fault(entry: str, is_old: bool) -> str | None:
    name, _, rest = entry.partition(":")
    port, _, further = rest.partition(":")
    found = FOREIGN.search(name)
    if found is not None:
        return "it has a blank in it" if found[0].isspace() else f"`{found[0]}` has no special meaning"
    if not name:
        return "it has no name"
    if port and (not port.strip().isdecimal() or not port.strip().strip("0")):
        return f"`{port}` is no port, ports are numbers from 1"
    if further and is_old:
        return "this NCCL reads no more than `name:port`"
    return None
