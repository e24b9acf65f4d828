"""Dumps of PyTorch's flight recorder: the last collectives of each rank.

Format: torch/csrc/distributed/c10d/FlightRecorder.hpp. `torch.distributed.flight_recorder` reads the same files.
A file has the number of its rank at the end of its name.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from trainyard.doctor import plain_pickle
from trainyard.doctor.errors import DoctorError
from trainyard.document.opening import reason

# 2,000 entries, the default of the charts, with their stack traces take about 10 MB.
_LARGEST = 64 << 20
_MOST_VALUES = 16
_RANK = re.compile(r"(\d+)(?:\.json)?$")
_TORCH = re.compile(r"/site-packages/|/dist-packages/|/lib/python\d|^<")


class Collective(NamedTuple):
    """A collective as one rank called it.

    Attributes:
        position: Position among the entries of the dump, from 1.
        group: Name of the process group, and its description.
        number: Sequence number in its group.
        operation: Operation, such as `all_reduce`.
        sizes: Shapes of the inputs.
        kinds: Data types of the inputs.
        created: Time of the call in nanoseconds, of the rank's own clock.
        place: File and line of the program that made the call, if stack traces were recorded.
    """

    position: int
    group: tuple[str, str]
    number: int
    operation: str
    sizes: str
    kinds: str
    created: int
    place: str


class Dump(NamedTuple):
    """The dump of a rank.

    Attributes:
        file: Its file.
        rank: The rank.
        collectives: Its collectives, the oldest first; sends and receives are left out.
        members: Ranks of each process group by the group's name.
    """

    file: str
    rank: int
    collectives: tuple[Collective, ...]
    members: dict[str, frozenset[int]]


def read(file: str) -> Dump | None:
    """Returns a dump, or None if the file is something else.

    Raises:
        DoctorError: The dump cannot be read.
    """
    path = Path(file)
    try:
        if not path.is_file() or path.stat().st_size == 0:
            return None
        with path.open("rb") as stream:
            start = stream.read(256)
            if not _is_dump(start):
                return None
            data = start + stream.read(_LARGEST - len(start) + 1)
    except OSError as error:
        raise DoctorError(f"{file}: it cannot be read: {reason(error)}") from None
    if len(data) > _LARGEST:
        raise DoctorError(f"{file}: the dump is larger than {_LARGEST >> 20} MiB; set TORCH_FR_BUFFER_SIZE to 2000")
    found = _RANK.search(path.name)
    if found is None:
        raise DoctorError(f"{file}: a dump of the flight recorder needs its rank at the end of its name, as in rank_3")
    return _dump(file, int(found[1]), _tree(file, data))


def _is_dump(start: bytes) -> bool:
    return start.startswith(plain_pickle.PROTOCOL) or (
        start.startswith(b"{")
        and (b'"comm_lib_version"' in start or b'"nccl_version"' in start or b'"entries"' in start)
    )


def _tree(file: str, data: bytes) -> dict[str, Any]:
    try:
        tree = plain_pickle.loads(data) if data.startswith(plain_pickle.PROTOCOL) else json.loads(data)
    except plain_pickle.PlainPickleError as error:
        raise DoctorError(f"{file}: the dump cannot be read: {error}") from None
    except (ValueError, RecursionError):
        raise DoctorError(f"{file}: the dump is no JSON: it is cut off or damaged") from None
    if not isinstance(tree, dict) or not isinstance(tree.get("entries"), list):
        raise DoctorError(f"{file}: the file has no entries of a flight recorder")
    return tree


def _dump(file: str, rank: int, tree: dict[str, Any]) -> Dump:
    entries = enumerate(tree["entries"], 1)
    found = (_collective(position, entry) for position, entry in entries if isinstance(entry, dict))
    groups = tree.get("pg_config")
    members = {
        str(name): frozenset(int(number) for number in re.findall(r"\d{1,9}", _text(group.get("ranks"))))
        for name, group in (groups.items() if isinstance(groups, dict) else ())
        if isinstance(group, dict)
    }
    return Dump(file, rank, tuple(one for one in found if one is not None), members)


def _collective(position: int, entry: dict[Any, Any]) -> Collective | None:
    number, group = entry.get("collective_seq_id"), entry.get("process_group")
    if entry.get("is_p2p") or not isinstance(number, int):
        return None
    name, described = (*map(_text, group), "", "")[:2] if isinstance(group, list | tuple) else ("", "")
    created = entry.get("time_created_ns")
    return Collective(
        position,
        (name, described),
        number,
        _text(entry.get("profiling_name")).rpartition(":")[2],
        _values(entry.get("input_sizes")),
        _values(entry.get("input_dtypes")),
        created if isinstance(created, int) else 0,
        _place(entry.get("frames")),
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else str(value) if isinstance(value, int) else ""


def _values(value: Any, depth: int = 2) -> str:
    """Returns shapes or types as a text. A damaged file may nest lists without end."""
    if isinstance(value, list):
        return f"[{', '.join(_values(item, depth - 1) for item in value[:_MOST_VALUES])}]" if depth else "[...]"
    return repr(_text(value)) if isinstance(value, str) else _text(value)


def _place(frames: Any) -> str:
    """Returns the innermost line that is not a library's."""
    for frame in frames if isinstance(frames, list) else ():
        if isinstance(frame, dict) and (name := _text(frame.get("filename"))) and not _TORCH.search(name):
            return f"{name}:{_text(frame.get('line'))}"
    return ""
