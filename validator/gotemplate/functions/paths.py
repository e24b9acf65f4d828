"""Paths with slashes. Source: Go `path`."""

from __future__ import annotations

import posixpath

from gotemplate.functions.texts import function_of
from gotemplate.programs import Function


def _clean(path: str) -> str:
    # POSIX keeps two slashes at the start of a path.
    return posixpath.normpath("/" + path.lstrip("/") if path.startswith("/") else path)


def _extension(path: str) -> str:
    _, dot, rest = path.rpartition("/")[2].rpartition(".")
    return dot + rest if dot else ""


FUNCTIONS: dict[str, Function] = {
    "base": function_of(posixpath.basename),
    "dir": function_of(lambda path: _clean(path[: path.rfind("/") + 1])),
    "ext": function_of(_extension),
    "clean": function_of(_clean),
    "isAbs": function_of(lambda path: path.startswith("/")),
}
