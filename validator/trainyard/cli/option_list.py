"""Several options of a command at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Function = Callable[..., Any]
Decorator = Callable[[Function], Function]


def option_list(*options: Decorator) -> Decorator:
    """Returns a decorator that adds options, in the order in which the help shows them."""

    def add(function: Function) -> Function:
        for option in reversed(options):
            function = option(function)
        return function

    return add
