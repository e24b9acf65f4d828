"""Lists made of others, and lists of numbers. Sources: sprig v3 list.go, numeric.go."""

from __future__ import annotations

from collections.abc import Sequence

from gotemplate.errors import UnsupportedError
from gotemplate.functions.numbers import to_int64
from gotemplate.functions.texts import print_value
from gotemplate.programs import Function
from gotemplate.tracked import Value, first_origin

# A loop over more numbers takes longer than a linter may, and no chart needs one.
_MOST = 100_000


def _numbers(start: int, end: int, step: int) -> Sequence[int]:
    """Returns the numbers from `start` to before `end`; none where the step leads away from it, or nowhere."""
    numbers = range(start, end, step) if step else ()
    if len(numbers) > _MOST:
        raise UnsupportedError(f"a list of more than {_MOST:,} numbers")
    return numbers


def _until(args: Sequence[Value]) -> Value:
    (end,) = map(to_int64, args)
    return _listed(args, _numbers(0, end, -1 if end < 0 else 1))


def _until_step(args: Sequence[Value]) -> Value:
    start, end, step = map(to_int64, args)
    return _listed(args, _numbers(start, end, step))


def _listed(args: Sequence[Value], numbers: Sequence[int]) -> Value:
    return Value([Value(number, first_origin(args)) for number in numbers])


def _seq(args: Sequence[Value]) -> Value:
    words = [to_int64(value) for value in args]
    if not 1 <= len(words) <= 3:
        return Value("")
    start, end = (words[0], words[-1]) if len(words) > 1 else (1, words[0])
    direction = -1 if end < start else 1
    step = words[1] if len(words) == 3 else direction
    numbers = _numbers(start, end + direction, step)
    return Value(" ".join(map(str, numbers)), first_origin(args))


def _compact(args: Sequence[Value]) -> Value:
    (items,) = args
    return Value([item for _, item in items.items() if item])


def _reverse(args: Sequence[Value]) -> Value:
    (items,) = args
    return Value([item for _, item in items.items()][::-1])


def _chunk(args: Sequence[Value]) -> Value:
    size, items = args
    every, length = [item for _, item in items.items()], to_int64(size)
    if length < 1:
        raise UnsupportedError("chunk of so many items")
    return Value([Value(every[start : start + length]) for start in range(0, len(every), length)])


def _pluck(args: Sequence[Value]) -> Value:
    key, *mappings = args
    return Value([mapping.item(key.data) for mapping in mappings if key.data in mapping.data])


def _to_strings(args: Sequence[Value]) -> Value:
    (items,) = args
    return Value([Value(print_value(item), item.source) for _, item in items.items() if item.data is not None])


FUNCTIONS: dict[str, Function] = {
    "until": _until,
    "untilStep": _until_step,
    "seq": _seq,
    "compact": _compact,
    "reverse": _reverse,
    "chunk": _chunk,
    "pluck": _pluck,
    "toStrings": _to_strings,
}
