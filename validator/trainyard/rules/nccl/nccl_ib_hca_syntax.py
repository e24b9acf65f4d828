"""An entry of `NCCL_IB_HCA` cannot match any adapter, so NCCL does not use the adapter.

The value is a comma-separated list. An entry is an adapter name, optionally followed by `:port`, and in NCCL 2.30 also
by `:rail` and `:plane`. NCCL knows neither wildcards nor regular expressions: `mlx5_*` is an adapter with a star in its
name. A space after a comma belongs to the name. A port that is not a number is read as port 0, but ports count from 1.
NCCL reads only the first 32 entries, and before 2.30 it drops everything after the port. If nothing matches, NCCL logs
that it found no device and falls back to sockets.

Write full names with `=` in front, or a common prefix without it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.analysis import versions
from trainyard.analysis.pods.settings import literal_value
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.nccl import lists
from trainyard.facts.versions import before
from trainyard.model.run import Setting

LIMIT = 32
RAILS = (2, 30)
# A dot inside the name may separate a VLAN; a dot at the end is meant as "any character".
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
    value = literal_value(setting) if setting.name == lists.ADAPTERS else None
    entries = lists.parse_list(value or "").entries
    release = versions.nccl(context) if entries else None
    is_old = release is not None and before(release.version, RAILS)
    for entry in entries:
        fault = _fault(entry, is_old)
        if fault is not None:
            yield Problem(
                setting.at,
                f"`{entry}` matches no adapter: {fault}",
                "write `name` or `name:port`, separated by commas",
                rests_on=release if _fault(entry, is_old=False) is None else None,
            )
            return
    if len(entries) > LIMIT:
        yield Problem(
            setting.at,
            f"NCCL reads only the first {LIMIT} of these {len(entries)} adapters",
            "use a common prefix, or exclude the other adapters with `^=`",
        )


def _fault(entry: str, is_old: bool) -> str | None:
    name, _, rest = entry.partition(":")
    port, _, further = rest.partition(":")
    found = FOREIGN.search(name)
    if found is not None:
        return "it contains a space" if found[0].isspace() else f"`{found[0]}` has no special meaning"
    if not name:
        return "it has no name"
    if port and (not port.strip().isdecimal() or not port.strip().strip("0")):
        return f"`{port}` is not a port number (ports count from 1)"
    if further and is_old:
        return "this NCCL release reads only `name:port`"
    return None
