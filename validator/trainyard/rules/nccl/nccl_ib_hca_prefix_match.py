"""Without `=` each name in `NCCL_IB_HCA` is a prefix, so `mlx5_1` also matches `mlx5_10` to `mlx5_19`.

NCCL uses every adapter whose name begins with an entry. On machines with many adapters or virtual functions, the list
then includes the storage or management adapters that it should keep out, and collectives run over them or fail to
connect. The fault does not show on machines with few adapters, until the same manifest runs on larger ones.

The rule ignores a family name such as `mlx5`, and an index that is not a prefix of another name, such as `mlx5_0`, or
only of names from 40 on, such as `mlx5_6`: few machines have so many. It also ignores three or more neighbours, of
which none is a prefix of a number up to the last one, such as `mlx5_1` to `mlx5_8`: whoever lists all rails of a
machine would list those above, too. One or two of many may be missing, as the adapters for storage.

Put `=` in front of the whole list, after `^` if there is one: `=mlx5_1,mlx5_2` or `^=mlx5_1`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.analysis.pods.settings import change_value, literal_value
from trainyard.engine.rule import Problem, rule
from trainyard.facts.nccl import lists
from trainyard.model.run import Setting

# An adapter with its number: `mlx5_1`, `mlx5_ib1`, `mlx5_bond_1`, `bnxt_re1`.
NUMBERED = re.compile(r"\w{1,60}_[a-z_]{0,20}([0-9]{1,6})")

# Few nodes have more adapters, also with virtual functions.
_ADAPTERS = 40
_SOME = 2
_MANY = 6


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
    """A full adapter name that NCCL reads as a prefix."""
    value = literal_value(setting) if setting.name == lists.ADAPTERS else None
    adapters = lists.parse_list(value or "")
    if value is None or adapters.exact or any(entry[0] in "^=" for entry in adapters.entries):
        return
    numbers = {name: int(match[1]) for name in adapters.names if (match := NUMBERED.fullmatch(name))}
    most = max(_ADAPTERS, *numbers.values()) if numbers else 0
    wide = [name for name, number in numbers.items() if 0 < number * 10 < most]
    if not wide or _are_rails(sorted(set(numbers.values()))):
        return
    # One adapter may be listed with several ports.
    are_full = len(numbers) == len(set(adapters.names))
    sign = "^=" if adapters.excludes else "="
    exact = sign + value.removeprefix("^")
    yield Problem(
        setting.at,
        f"`{wide[0]}` is a prefix here and also matches {wide[0]}0 to {wide[0]}9",
        f'write "{exact}"' if are_full else "write full names, with `=` in front of the whole list",
        change_value(setting, exact) if are_full else (),
    )


def _are_rails(numbers: list[int]) -> bool:
    is_prefix = any(0 < number * 10 <= numbers[-1] for number in numbers)
    absent = numbers[-1] - numbers[0] + 1 - len(numbers)
    return len(numbers) > _SOME and not is_prefix and (absent == 0 or (len(numbers) >= _MANY and absent <= _SOME))
