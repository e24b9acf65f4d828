"""Answers about the disk, such as whether a file lies beside another, that hold for one lint.

The language server lints again and again, while files come and go. It calls `forget` before each lint.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import ParamSpec, TypeVar

    _Asked = ParamSpec("_Asked")
    _Answer = TypeVar("_Answer")

_forgetting: list[Callable[[], None]] = []


def remembered(look: Callable[_Asked, _Answer]) -> Callable[_Asked, _Answer]:
    """Returns the function with a memory of its answers, for documents of one folder."""
    known = functools.lru_cache(maxsize=256)(look)
    _forgetting.append(known.cache_clear)
    functools.update_wrapper(known, look)
    return known  # type: ignore[return-value]


def forget() -> None:
    """Forgets all answers: files may have changed since."""
    for clear in _forgetting:
        clear()
