"""Dumps of PyTorch's flight recorder: the last collectives, sends and receives of each rank.

Format: torch/csrc/distributed/c10d/FlightRecorder.hpp, version 2.10. `torch.distributed.flight_recorder` reads the same
files.
A file has the number of its rank at the end of its name.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from trainyard.commands.doctor import plain_pickle
from trainyard.commands.doctor.errors import DoctorError
from trainyard.document.opening import reason

# 2,000 entries, the default of the charts, with their stack traces take about 10 MB.
_LARGEST = 64 << 20
_MOST_VALUES = 16
_RANK = re.compile(r"(\d+)(?:\.json)?$")
# `nccl:send 1->2`, `nccl:recv 3<-0`, and `gloo:recv 3<-?` for a message of any rank; numbers are places in the group.
_SEND, _RECEIVE = re.compile(r"\bsend (\d{1,9})->(\d{1,9})$"), re.compile(r"\brecv (\d{1,9})<-(\d{1,9}|\?)$")
_TORCH = re.compile(r"/site-packages/|/dist-packages/|/lib/python\d|^<")


class Collective(NamedTuple):
    """A collective as one rank called it.

    Attributes:
        position: Position among the entries of the dump, from 1.
        group: Name of the process group, and its description.
        number: Sequence number in its group.
        operation: Operation, such as `all_reduce`.
        sizes: Shapes of the inputs.
        results: Shapes of the outputs.
        kinds: Data types of the inputs.
        created: Time of the call in nanoseconds, of the rank's own clock.
        place: File and line of the program that made the call, if stack traces were recorded.
    """

    position: int
    group: tuple[str, str]
    number: int
    operation: str
    sizes: str
    results: str
    kinds: str
    created: int
    place: str


class Transfer(NamedTuple):
    """A send or a receive as one rank called it.

    Attributes:
        position: Position among the entries of the dump, from 1.
        group: Name of the process group, and its description.
        operation: `send` or `recv`.
        source: Place of the sender in the group; None if any rank may send.
        target: Place of the receiver in the group.
        sizes: Shapes of the message.
        kinds: Data types of the message.
        pending: The recorder has not seen its end.
        created: Time of the call in nanoseconds, of the rank's own clock.
        place: File and line of the program that made the call, if stack traces were recorded.
    """

    position: int
    group: tuple[str, str]
    operation: str
    source: int | None
    target: int
    sizes: str
    kinds: str
    pending: bool
    created: int
    place: str


class Dump(NamedTuple):
    """The dump of a rank.

    Attributes:
        file: Its file.
        rank: The rank.
        collectives: Its collectives, the oldest first.
        transfers: Its sends and receives, the oldest first.
        members: Ranks of each process group by the group's name.
        complete: The dump has the first entry of the rank: newer ones have not replaced it.
    """

    file: str
    rank: int
    collectives: tuple[Collective, ...]
    transfers: tuple[Transfer, ...]
    members: dict[str, frozenset[int]]
    complete: bool


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
    entries = [(position, entry) for position, entry in enumerate(tree["entries"], 1) if isinstance(entry, dict)]
    collectives = (_collective(position, entry) for position, entry in entries)
    transfers = (_transfer(position, entry) for position, entry in entries)
    groups = tree.get("pg_config")
    members = {
        str(name): frozenset(int(number) for number in re.findall(r"\d{1,9}", _text(group.get("ranks"))))
        for name, group in (groups.items() if isinstance(groups, dict) else ())
        if isinstance(group, dict)
    }
    return Dump(
        file,
        rank,
        tuple(one for one in collectives if one is not None),
        tuple(one for one in transfers if one is not None),
        members,
        not entries or entries[0][1].get("record_id") == 0,
    )


def _collective(position: int, entry: dict[Any, Any]) -> Collective | None:
    number = entry.get("collective_seq_id")
    if entry.get("is_p2p") or not isinstance(number, int):
        return None
    return Collective(
        position,
        _group(entry),
        number,
        _text(entry.get("profiling_name")).rpartition(":")[2],
        _values(entry.get("input_sizes")),
        _values(entry.get("output_sizes")),
        _values(entry.get("input_dtypes")),
        _created(entry),
        _place(entry.get("frames")),
    )


def _transfer(position: int, entry: dict[Any, Any]) -> Transfer | None:
    name = _text(entry.get("profiling_name"))
    sent, received = _SEND.search(name), _RECEIVE.search(name)
    if sent is not None:
        operation, source, target, side = "send", sent[1], sent[2], "input"
    elif received is not None:
        operation, source, target, side = "recv", received[2], received[1], "output"
    else:
        return None
    return Transfer(
        position,
        _group(entry),
        operation,
        None if source == "?" else int(source),
        int(target),
        _values(entry.get(f"{side}_sizes")),
        _values(entry.get(f"{side}_dtypes")),
        entry.get("state") != "completed",
        _created(entry),
        _place(entry.get("frames")),
    )


def _group(entry: dict[Any, Any]) -> tuple[str, str]:
    group = entry.get("process_group")
    name, described = (*map(_text, group), "", "")[:2] if isinstance(group, list | tuple) else ("", "")
    return name, described


def _created(entry: dict[Any, Any]) -> int:
    created = entry.get("time_created_ns")
    return created if isinstance(created, int) else 0


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
