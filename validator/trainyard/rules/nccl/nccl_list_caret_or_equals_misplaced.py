"""`^` and `=` count only at the start of a device list; anywhere else they are part of a name that no device has.

NCCL looks at the first character for `^` (leave these out) and at the next one for `=` (exact names). Both apply to
the whole list. In `^docker0,^lo` the second entry is a device called `^lo`: the loopback is not left out. In
`=mlx5_0,=mlx5_3` only `mlx5_0` is used, and half of the bandwidth is gone. `=^eth1` looks for a device called `^eth1`
and finds none, which ends the run.

The rule looks at `NCCL_SOCKET_IFNAME`, `NCCL_IB_HCA` and `NCCL_OOB_NET_IFNAME`.

Write the signs once, in front, `^` first: `^docker0,lo`, `=mlx5_0,mlx5_3`, `^=eth1`.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects.settings import changed, literal
from validator.facts import nccl_lists
from validator.model import Setting
from validator.rule import Problem, rule

SIGNS = {"": "", "^": "^", "=": "=", "^=": "^=", "=^": "^=", "==": "=", "^^": "^"}


@rule(
    code="NC011",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/nccl v2.30.7-1 src/os/linux.cc: ncclOsFindInterfaces",
        "NVIDIA/nccl v2.30.7-1 src/transport/net_ib/init.cc: searchNot and searchExact",
    ),
    fix="safe",
    needs=("NCCL_",),
)
def nccl_list_caret_or_equals_misplaced(setting: Setting) -> Iterator[Problem]:
    """A sign that NCCL takes for a part of a name."""
    if setting.name not in nccl_lists.LISTS:
        return
    value = literal(setting)
    wrong = next((entry for entry in nccl_lists.read(value or "").entries if entry[0] in "^="), None)
    if value is None or wrong is None:
        return
    meant = _in_front(value)
    yield Problem(
        setting.at,
        f"`{wrong}` is taken for a device's name: `^` and `=` count only before the whole list",
        f'write "{meant}"' if meant else "write one list, with `^` or `=` once in front",
        changed(setting, meant) if meant else (),
    )


def _in_front(value: str) -> str | None:
    """The list with its signs in front, None when entries have different ones: then the wish is not clear."""
    entries = [entry for entry in value.split(",") if entry]
    names = [entry.lstrip("^=") for entry in entries]
    signs = [SIGNS.get(entry[: len(entry) - len(name)]) for entry, name in zip(entries, names, strict=True)]
    later = set(signs[1:]) - {""}
    if signs[0] is None or not all(names) or (later and later != {signs[0]}):
        return None
    return signs[0] + ",".join(names)
