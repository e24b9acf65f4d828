"""Without `=` each name in `NCCL_IB_HCA` is a prefix, so `mlx5_1` also means `mlx5_10` to `mlx5_19`.

NCCL takes every adapter whose name begins with an entry. On machines with many adapters or virtual functions, the
list then brings in the storage or management adapters that it was written to keep out, and collectives run over them
or fail to connect. Machines with few adapters show nothing, until the same manifest runs on larger ones.

A family name such as `mlx5`, and an index that no other name can begin with, such as `mlx5_0`, are left alone.

Put `=` in front of the whole list, behind `^` where there is one: `=mlx5_1,mlx5_2` or `^=mlx5_1`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from validator.aspects.settings import changed, literal
from validator.facts import nccl_lists
from validator.model import Setting
from validator.rule import Problem, rule

# An adapter with its number: `mlx5_1`, `mlx5_ib1`, `mlx5_bond_1`, `bnxt_re1`.
NUMBERED = re.compile(r"\w{1,60}_[a-z_]{0,20}([0-9]{1,6})")


@rule(
    code="NC010",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/nccl v2.30.7-1 docs/userguide/source/env.rst: NCCL_IB_HCA, note on mlx5_1",
        "NVIDIA/nccl v2.30.7-1 src/misc/utils.cc: matchIf compares the length of the entry",
    ),
    fix="safe",
    needs=("NCCL_IB_HCA",),
)
def nccl_ib_hca_prefix_match(setting: Setting) -> Iterator[Problem]:
    """An adapter's full name in a list of prefixes."""
    value = literal(setting) if setting.name == nccl_lists.ADAPTERS else None
    adapters = nccl_lists.read(value or "")
    if value is None or adapters.exact or any(entry[0] in "^=" for entry in adapters.entries):
        return
    numbers = {name: int(match[1]) for name in adapters.names if (match := NUMBERED.fullmatch(name))}
    wide = [name for name, number in numbers.items() if number > 0]
    if not wide:
        return
    sign = "^=" if adapters.excludes else "="
    exact = sign + value.removeprefix("^")
    yield Problem(
        setting.at,
        f"`{wide[0]}` is a prefix here: it also means {wide[0]}0 to {wide[0]}9",
        f'write "{exact}"'
        if len(numbers) == len(adapters.names)
        else "give full names, with `=` before the whole list",
        changed(setting, exact) if len(numbers) == len(adapters.names) else (),
    )
