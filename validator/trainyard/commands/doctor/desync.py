"""Comparison of the flight recorders of all ranks: who called another collective, and who did not call one.

The ranks of a group call the same collectives in the same order, so equal sequence numbers must be equal calls.
`torch.distributed.flight_recorder` compares shapes in the same way.
"""

from __future__ import annotations

from collections import Counter

from trainyard.commands.doctor import transfers
from trainyard.commands.doctor.difference import ABSENT, MISMATCH, Difference, ranks, title
from trainyard.commands.doctor.recorder import Collective, Dump

# The ranks may pass other shapes to these; to some operations only the inputs or only the outputs of one rank.
_UNEVEN = frozenset({"all_to_all", "all_to_all_single", "all_to_all_v_single", "all_gather_v", "reduce_scatter_v"})
_OTHER_INPUT, _OTHER_OUTPUT = _UNEVEN | {"scatter"}, _UNEVEN | {"gather"}


def find(dumps: list[Dump]) -> list[Difference]:
    """Returns the differences of each process group: those with a culprit that does not wait, the earliest first."""
    used = {one.group for dump in dumps for one in dump.collectives}
    groups = sorted(used | {one.group for dump in dumps for one in dump.transfers})
    found = [one for group in groups for one in _in_group(group, dumps)]
    waiting = {rank for one in found for rank in one.waiting}
    return sorted(found, key=lambda one: (one.culprit is None or one.culprit in waiting, one.created))


def _in_group(group: tuple[str, str], dumps: list[Dump]) -> list[Difference]:
    named = sorted(_members(group[0], dumps))
    desync = _collectives(group, dumps)
    return [*([desync] if desync is not None else []), *transfers.find(group, named, dumps)]


def _collectives(group: tuple[str, str], dumps: list[Dump]) -> Difference | None:
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


def _kind(call: Collective) -> tuple[str, str, str, str]:
    sizes = "" if call.operation in _OTHER_INPUT else call.sizes
    results = "" if call.operation in _OTHER_OUTPUT else call.results
    return call.operation, "" if call.operation == "scatter" else call.kinds, sizes, results


def _mismatch(
    group: tuple[str, str],
    number: int,
    made: dict[int, Collective],
    kinds: Counter[tuple[str, str, str, str]],
    dumps: dict[int, Dump],
) -> Difference:
    usual = kinds.most_common(1)[0][0]
    others = sorted(rank for rank, call in made.items() if _kind(call) != usual)
    # With as many ranks on one side as on the other, nobody can tell which side is wrong.
    one_side = kinds[usual] * 2 > len(made)
    parts = "; ".join(
        f"{ranks([rank for rank, call in made.items() if _kind(call) == kind])} {_called(kind, made)}" for kind in kinds
    )
    call = made[others[0]]
    culprit = others[0] if one_side and len(others) == 1 else None
    dump = dumps[others[0]]
    text = f"{title(group)}, collective {number}: {parts}"
    return Difference(MISMATCH, culprit, frozenset(), dump, call.position, _first(made), text)


def _called(kind: tuple[str, str, str, str], made: dict[int, Collective]) -> str:
    call = next(one for one in made.values() if _kind(one) == kind)
    place = f" at {call.place}" if call.place else ""
    sizes = call.sizes if call.results in (call.sizes, "") else f"{call.sizes} to {call.results}"
    return f"called {call.operation} of {call.kinds} {sizes}{place}"


def _absent(
    group: tuple[str, str], members: set[int], calls: dict[int, dict[int, Collective]], dumps: dict[int, Dump]
) -> Difference | None:
    reached = {rank: max(numbers, default=0) for rank, numbers in calls.items()}
    last = max(reached.values(), default=0)
    behind = sorted(rank for rank, number in reached.items() if number < last)
    silent = sorted(rank for rank in members if rank not in reached)
    if len(silent) >= len(reached):
        # Somebody has given the dumps of a few ranks only.
        silent = []
    if not last or not (behind or silent):
        return None
    # Newer entries have replaced the first ones in a dump of a long run.
    oldest = min(number for numbers in calls.values() for number in numbers)
    number = max(min((reached[rank] for rank in behind), default=last - 1) + 1, oldest)
    waiting = {rank: numbers[number] for rank, numbers in calls.items() if number in numbers}
    if not waiting:
        return None
    rank, call = min(waiting.items())
    late = [one for one in behind if reached[one] < number]
    words = [f"{ranks(late)} did not call it"] if late else []
    words += [f"there is no dump of {ranks(silent)}"] if silent else []
    suspects = late or silent
    place = f" at {call.place}" if call.place else ""
    called = f"{title(group)}, collective {number}, {call.operation} {call.sizes}{place}"
    text = f"{called}: {ranks(sorted(waiting))} called it; {'; '.join(words)}"
    culprit = suspects[0] if len(suspects) == 1 else None
    return Difference(ABSENT, culprit, frozenset(waiting), dumps[rank], call.position, _first(waiting), text)


def _first(made: dict[int, Collective]) -> int:
    return min(call.created for call in made.values())
