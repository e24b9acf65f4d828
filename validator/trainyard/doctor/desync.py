"""What the flight recorders of the ranks say together: who called another collective, and who did not call one.

The ranks of a group call the same collectives in the same order, so equal sequence numbers must be equal calls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from trainyard.doctor.recorder import Collective, Dump

# Ranks pass different shapes to the others, for example to `all_gather` of uneven parts.
_SAME_SHAPE = frozenset({"all_reduce", "broadcast", "_all_gather_base", "_reduce_scatter_base", "reduce"})
MISMATCH, ABSENT = "mismatched-collectives", "collective-not-joined"


class Desync(NamedTuple):
    """A collective that the ranks of a group did not call alike.

    Attributes:
        cause: Name of the cause.
        culprit: The rank that differs, if it is one.
        dump: A dump that shows it.
        position: Entry of that dump.
        created: Time of the call of the first rank.
        text: What happened, in words.
    """

    cause: str
    culprit: int | None
    dump: Dump
    position: int
    created: int
    text: str


def find(dumps: list[Dump]) -> list[Desync]:
    """Returns one difference of each process group, the earliest first."""
    groups = sorted({one.group for dump in dumps for one in dump.collectives})
    found = (desync for group in groups for desync in [_in_group(group, dumps)] if desync is not None)
    return sorted(found, key=lambda one: one.created)


def _in_group(group: tuple[str, str], dumps: list[Dump]) -> Desync | None:
    calls = {dump.rank: {one.number: one for one in dump.collectives if one.group == group} for dump in dumps}
    by_rank = {dump.rank: dump for dump in dumps}
    members = _members(group[0], dumps) or {rank for rank, numbers in calls.items() if numbers}
    calls = {rank: numbers for rank, numbers in calls.items() if rank in members}
    for number in sorted({number for numbers in calls.values() for number in numbers}):
        made = {rank: numbers[number] for rank, numbers in calls.items() if number in numbers}
        if (kinds := Counter(map(_kind, made.values()))) and len(kinds) > 1:
            return _mismatch(group, number, made, kinds, by_rank)
    return _absent(group, members, calls, by_rank)


def _members(name: str, dumps: list[Dump]) -> set[int]:
    # Gloo leaves the name of the default group empty in the configuration, but not in the entries.
    found = (dump.members.get(name) or (dump.members.get("") if name == "0" else None) for dump in dumps)
    return set(next((ranks for ranks in found if ranks), frozenset()))


def _kind(call: Collective) -> tuple[str, str, str]:
    return call.operation, call.kinds, call.sizes if call.operation in _SAME_SHAPE else ""


def _mismatch(
    group: tuple[str, str],
    number: int,
    made: dict[int, Collective],
    kinds: Counter[tuple[str, str, str]],
    dumps: dict[int, Dump],
) -> Desync:
    usual = kinds.most_common(1)[0][0]
    others = sorted(rank for rank, call in made.items() if _kind(call) != usual)
    # With as many ranks on one side as on the other, nobody can tell which side is wrong.
    one_side = kinds[usual] * 2 > len(made)
    parts = "; ".join(
        f"{_ranks([rank for rank, call in made.items() if _kind(call) == kind])} {_called(kind, made)}"
        for kind in kinds
    )
    call = made[others[0]]
    culprit = others[0] if one_side and len(others) == 1 else None
    dump = dumps[others[0]]
    return Desync(
        MISMATCH, culprit, dump, call.position, _first(made), f"{_title(group)}, collective {number}: {parts}"
    )


def _called(kind: tuple[str, str, str], made: dict[int, Collective]) -> str:
    call = next(one for one in made.values() if _kind(one) == kind)
    place = f" at {call.place}" if call.place else ""
    return f"called {call.operation} of {call.kinds} {call.sizes}{place}"


def _absent(
    group: tuple[str, str], members: set[int], calls: dict[int, dict[int, Collective]], dumps: dict[int, Dump]
) -> Desync | None:
    reached = {rank: max(numbers, default=0) for rank, numbers in calls.items()}
    last = max(reached.values(), default=0)
    behind = sorted(rank for rank, number in reached.items() if number < last)
    silent = sorted(rank for rank in members if rank not in reached)
    if len(silent) >= len(reached):
        # Somebody has given the dumps of a few ranks only.
        silent = []
    if not last or not (behind or silent):
        return None
    number = min((reached[rank] for rank in behind), default=last - 1) + 1
    waiting = {rank: numbers[number] for rank, numbers in calls.items() if number in numbers}
    if not waiting:
        return None
    rank, call = min(waiting.items())
    late = [one for one in behind if reached[one] < number]
    words = [f"{_ranks(late)} did not call it"] if late else []
    words += [f"there is no dump of {_ranks(silent)}"] if silent else []
    suspects = late or silent
    place = f" at {call.place}" if call.place else ""
    title = f"{_title(group)}, collective {number}, {call.operation} {call.sizes}{place}"
    text = f"{title}: {_ranks(sorted(waiting))} called it; {'; '.join(words)}"
    culprit = suspects[0] if len(suspects) == 1 else None
    return Desync(ABSENT, culprit, dumps[rank], call.position, _first(waiting), text)


def _first(made: dict[int, Collective]) -> int:
    return min(call.created for call in made.values())


def _title(group: tuple[str, str]) -> str:
    name, described = group
    return f"group {described or name or 'default'}"


def _ranks(ranks: list[int]) -> str:
    return "rank" + ("s" if len(ranks) != 1 else "") + " " + ", ".join(_spans(sorted(ranks)))


def _spans(ranks: list[int]) -> Iterator[str]:
    """Yields the ranks with runs of them joined: `0-3`."""
    start = 0
    for index in range(1, len(ranks) + 1):
        if index == len(ranks) or ranks[index] != ranks[index - 1] + 1:
            first, last = ranks[start], ranks[index - 1]
            yield str(first) if first == last else f"{first}-{last}"
            start = index
