"""Compares two projects: the same runs and objects, in any files and at any places."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.document.document import Document, Place
from trainyard.model.run import Project

_ABSENT = "nothing"


def differences(one: Project, other: Project) -> list[str]:
    """Return the differences between the models of two projects, except places and documents."""
    ours, theirs = (project._replace(documents=()) for project in (one, other))
    return list(_differences(ours, theirs, "project"))


def _differences(one: Any, other: Any, at: str) -> Iterator[str]:
    if isinstance(one, Place | Document) and isinstance(other, Place | Document):
        return
    if type(one) is not type(other):
        yield f"{at}: {one!r} is not {other!r}"
    elif hasattr(one, "_fields"):
        for field in one._fields:
            yield from _differences(getattr(one, field), getattr(other, field), f"{at}.{field}")
    elif isinstance(one, dict):
        for key in {**one, **other}:
            yield from _differences(one.get(key, _ABSENT), other.get(key, _ABSENT), f"{at}.{key}")
    elif isinstance(one, list | tuple) and len(one) == len(other):
        for index, (ours, theirs) in enumerate(zip(one, other, strict=True)):
            yield from _differences(ours, theirs, f"{at}[{index}]")
    elif one != other:
        yield f"{at}: {one!r} is not {other!r}"
