"""`^` or `=` is inside a device list, where NCCL reads it as part of a device name that does not exist.

NCCL looks for `^` (exclude) in the first character and then for `=` (exact names) in the next one. Both apply to the
whole list. In `^docker0,^lo` the second entry is a device called `^lo`, so the loopback is not excluded. With
`=mlx5_0,=mlx5_3` NCCL uses only `mlx5_0`, and half of the bandwidth is lost. With `=^eth1` NCCL looks for a device
called `^eth1` and finds none, which ends the run.

The rule checks `NCCL_SOCKET_IFNAME`, `NCCL_IB_HCA` and `NCCL_OOB_NET_IFNAME`.

Write the signs once, at the start, `^` first: `^docker0,lo`, `=mlx5_0,mlx5_3`, `^=eth1`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.settings import change_value, literal_value
from trainyard.engine.rule import Problem, rule
from trainyard.facts.nccl import lists
from trainyard.model.run import Setting

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
    """A sign that NCCL reads as part of a device name."""
    if setting.name not in lists.LISTS:
        return
    value = literal_value(setting)
    wrong = next((entry for entry in lists.parse_list(value or "").entries if entry[0] in "^="), None)
    if value is None or wrong is None:
        return
    meant = _in_front(value)
    yield Problem(
        setting.at,
        f"NCCL reads `{wrong}` as a device name: `^` and `=` count only at the start of the list",
        f'write "{meant}"' if meant else "write one list, with `^` or `=` once at the start",
        change_value(setting, meant) if meant else (),
    )


def _in_front(value: str) -> str | None:
    """The list with its signs at the start; None if the entries have different signs and the intent is unclear."""
    entries = [entry for entry in value.split(",") if entry]
    names = [entry.lstrip("^=") for entry in entries]
    signs = [SIGNS.get(entry[: len(entry) - len(name)]) for entry, name in zip(entries, names, strict=True)]
    if signs[0] is None or not all(names) or not {*signs} <= {"", signs[0]}:
        return None
    return signs[0] + ",".join(names)
