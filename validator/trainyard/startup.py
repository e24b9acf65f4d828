"""Named tuples and regular expressions that cost little when a module is imported.

A file of 3 kB is linted in less time than Python needs for the definitions of the rules and of the model. The modules
that every file needs take these two from here.
"""

from __future__ import annotations

import re
from collections import namedtuple
from typing import TYPE_CHECKING, Any, AnyStr, cast

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    # Python's own attributes of a class, and what `namedtuple` has made itself.
    _MADE = frozenset(("__annotations__", "__doc__", "__module__", "__qualname__"))

    class NamedTuple(type):
        """A metaclass that stands for `typing.NamedTuple`, which compiles the annotation of each field."""

        def __new__(cls, name: str, _: tuple[type, ...], body: dict[str, Any]) -> type:
            """Returns a named tuple with the fields, defaults and methods in the body of a class."""
            types = body["__annotations__"]
            defaults = [body[field] for field in types if field in body]
            made = namedtuple(name, types, defaults=defaults, module=body["__module__"])
            made.__doc__, made.__annotations__ = body.get("__doc__", made.__doc__), types
            for attribute, value in body.items():
                if attribute not in types and attribute not in _MADE:
                    setattr(made, attribute, value)
            return made

    NamedTuple = type.__new__(NamedTuple, "NamedTuple", (), {})


def pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Returns a regular expression that is compiled when it is first used: most files need a few of them."""
    return cast("re.Pattern[AnyStr]", _Pattern(text, flags))


class _Pattern:
    """A regular expression whose methods are looked up once, so that later calls cost what `re.Pattern` costs."""

    def __init__(self, text: str | bytes, flags: int) -> None:
        self._text, self._flags = text, flags

    def __getattr__(self, name: str) -> Any:
        method = getattr(re.compile(self._text, self._flags), name)
        setattr(self, name, method)
        return method
