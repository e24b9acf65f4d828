"""The definitions that modules need at once behave as those of Python."""

from __future__ import annotations

import pickle
import re
import typing

import pytest

from trainyard.startup import NamedTuple, pattern


class Ours(NamedTuple):
    """A range."""

    first: int
    last: int = 9

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.last - self.first


class Theirs(typing.NamedTuple):
    """A range."""

    first: int
    last: int = 9


def test_a_named_tuple_is_that_of_python() -> None:
    assert tuple(Ours(1)) == tuple(Theirs(1)) == (1, 9)
    assert repr(Ours(1)) == "Ours(first=1, last=9)"
    assert Ours._fields == Theirs._fields
    assert Ours._field_defaults == Theirs._field_defaults
    assert Ours.__doc__ == Theirs.__doc__
    assert typing.get_type_hints(Ours) == typing.get_type_hints(Theirs)
    assert Ours(1)._replace(first=4).size == 5
    assert pickle.loads(pickle.dumps(Ours(3))) == Ours(3)  # noqa: S301
    with pytest.raises(TypeError, match="first"):
        Ours()  # type: ignore[call-arg]


def test_a_pattern_is_compiled_when_it_is_first_used() -> None:
    broken = pattern("(")
    with pytest.raises(re.error):
        broken.match("x")
    letters = pattern("[a-z]+", re.IGNORECASE)
    assert letters.findall("one Two") == ["one", "Two"]
    assert letters.sub("-", "one Two") == "- -"
    assert letters.pattern == "[a-z]+"
