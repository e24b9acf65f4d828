"""Sends and receives that have no counterpart in the flight recorder of the other rank, or one of another size.

The sends of a rank to another one, and the receives there, pair up in the order of their calls. A dump that has lost
its first entries tells only which calls are still pending.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.commands.doctor.difference import ABSENT, MISMATCH, Difference, title
from trainyard.commands.doctor.recorder import Dump, Transfer

_Group = tuple[str, str]


def find(group: _Group, members: list[int], dumps: list[Dump]) -> list[Difference]:
    """Returns the unpaired sends and receives of a process group, without those that only follow from others."""
    found = [one for source, target in _pairs(group, dumps) for one in _between(group, source, target, members, dumps)]
    waiting = {rank for one in found for rank in one.waiting}
    # A rank that waits itself is not to blame: in a pipeline, each stage waits for the one before.
    roots = [one for one in found if one.culprit is None or one.culprit not in waiting]
    return roots or [one._replace(culprit=None) for one in found]


def _pairs(group: _Group, dumps: list[Dump]) -> list[tuple[int, int]]:
    calls = (one for dump in dumps for one in dump.transfers if one.group == group)
    return sorted({(one.source, one.target) for one in calls if one.source is not None})


def _between(group: _Group, source: int, target: int, members: list[int], dumps: list[Dump]) -> Iterator[Difference]:
    sender, receiver = _dump(source, members, dumps), _dump(target, members, dumps)
    if sender is None or receiver is None or _takes_any(group, receiver):
        return
    sends, receives = _calls("send", group, source, target, sender), _calls("recv", group, source, target, receiver)
    if not (sender.complete and receiver.complete):
        sends, receives = [one for one in sends if one.pending], [one for one in receives if one.pending]
    names = f"{title(group)}, from rank {sender.rank} to rank {receiver.rank}"
    for number, (sent, received) in enumerate(zip(sends, receives, strict=False), 1):
        if (sent.kinds, sent.sizes) != (received.kinds, received.sizes):
            text = f"{names}: send {number} is {_what(sent)}, and its receive {_what(received)}"
            both = frozenset({sender.rank, receiver.rank})
            yield Difference(MISMATCH, None, both, sender, sent.position, sent.created, text)
            return
    lost, awaited = _first_pending(sends[len(receives) :]), _first_pending(receives[len(sends) :])
    if lost is not None:
        text = f"{names}: {_what(lost)} was sent; rank {receiver.rank} did not receive it"
        yield _unanswered(text, lost, sender, receiver)
    if awaited is not None:
        text = f"{names}: {_what(awaited)} is awaited; rank {sender.rank} did not send it"
        yield _unanswered(text, awaited, receiver, sender)


def _unanswered(text: str, call: Transfer, waits: Dump, lacks: Dump) -> Difference:
    return Difference(ABSENT, lacks.rank, frozenset({waits.rank}), waits, call.position, call.created, text)


def _first_pending(calls: list[Transfer]) -> Transfer | None:
    return next((one for one in calls if one.pending), None)


def _dump(place: int, members: list[int], dumps: list[Dump]) -> Dump | None:
    """Returns the dump of a rank by its place in the group, which the recorder writes."""
    rank = members[place] if place < len(members) else place
    return next((dump for dump in dumps if dump.rank == rank), None)


def _takes_any(group: _Group, dump: Dump) -> bool:
    """Returns true if a receive of the rank names no sender."""
    return any(one.group == group and one.source is None for one in dump.transfers)


def _calls(operation: str, group: _Group, source: int, target: int, dump: Dump) -> list[Transfer]:
    wanted = (operation, group, source, target)
    return [one for one in dump.transfers if (one.operation, one.group, one.source, one.target) == wanted]


def _what(call: Transfer) -> str:
    return f"{call.kinds} {call.sizes}" + (f" at {call.place}" if call.place else "")
