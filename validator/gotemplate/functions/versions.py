"""Comparison of semantic versions. Source: Masterminds/semver v3 (constraints.go)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from gotemplate.errors import UnsupportedError
from gotemplate.tracked import Value, first_origin

_VERSION = r"v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?"
# Groups: the sign, then those of a version.
_PART = rf"(=|==|!=|>=|=>|<=|=<|>|<|~|\^|)\s*{_VERSION}(?:\s*,\s*|\s+|$)"

_Numbers = tuple[int, int, int]
_COMPARED: dict[str, Callable[[_Numbers, _Numbers], bool]] = {
    "": lambda one, other: one == other,
    "=": lambda one, other: one == other,
    "==": lambda one, other: one == other,
    "!=": lambda one, other: one != other,
    ">": lambda one, other: one > other,
    "<": lambda one, other: one < other,
    ">=": lambda one, other: one >= other,
    "=>": lambda one, other: one >= other,
    "<=": lambda one, other: one <= other,
    "=<": lambda one, other: one <= other,
}


def _semver_compare(args: Sequence[Value]) -> Value:
    """Returns true if the version (the second argument) satisfies the constraint (the first)."""
    constraint, version = (str(argument.data).strip() for argument in args)
    found = re.fullmatch(_VERSION, version)
    if found is None:
        raise ValueError(f"{version} is not a semantic version")
    if found[4]:
        raise UnsupportedError("semverCompare with a pre-release")
    numbers = _numbers(*found.group(1, 2, 3))
    holds = any(all(_holds(part, numbers) for part in _parts(either)) for either in constraint.split("||"))
    return Value(holds, first_origin(args))


def _parts(constraint: str) -> list[re.Match[str]]:
    parts = list(re.finditer(_PART, constraint.strip()))
    if not parts or "".join(part[0] for part in parts) != constraint.strip():
        raise UnsupportedError(f"semverCompare with `{constraint}`")
    return parts


def _holds(part: re.Match[str], version: _Numbers) -> bool:
    sign, major, minor, patch, pre_release = part.group(1, 2, 3, 4, 5)
    wanted = _numbers(major, minor, patch)
    if sign in (">=", "=>", "<"):
        return _COMPARED[sign](version, wanted)
    # A constraint without a patch or a minor version covers all of them; one with a pre-release is below its version.
    if minor is None or pre_release or (patch is None and sign in _COMPARED) or (sign == "^" and not wanted[0]):
        raise UnsupportedError(f"semverCompare with `{part[0].strip()}`")
    if sign in _COMPARED:
        return _COMPARED[sign](version, wanted)
    same = 2 if sign == "~" else 1
    return version >= wanted and version[:same] == wanted[:same]


def _numbers(major: str, minor: str | None, patch: str | None) -> _Numbers:
    return int(major), int(minor or 0), int(patch or 0)


FUNCTIONS = {"semverCompare": _semver_compare}
