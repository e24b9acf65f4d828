"""Schedules in cron's form, as the controllers of Kubernetes, Volcano, KubeRay and Argo Workflows read them.

Source: robfig/cron v3.0.1 parser.go: ParseStandard, getRange. Unlike cron, it has no 7 for Sunday.
"""

from __future__ import annotations

from trainyard.analysis.admission.constraints import is_known
from trainyard.startup import pattern

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_NAMES = {
    "month": {name: number for number, name in enumerate(_MONTHS, 1)},
    "day of the week": {name: number for number, name in enumerate(_DAYS)},
}
_FIELDS = (("minute", 0, 59), ("hour", 0, 23), ("day of the month", 1, 31), ("month", 1, 12), ("day of the week", 0, 6))
_DESCRIPTORS = ("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")
_EVERY = pattern(r"@every\s+[-+]?(?:\d+(?:\.\d*)?(?:ns|us|ms|s|m|h))+\Z")
_PART = pattern(r"(?P<low>\*|\?|\w+)(?:-(?P<high>\w+))?(?:/(?P<step>\d+))?\Z")


def fault_of(schedule: str) -> tuple[str, str] | None:
    """Returns what is wrong with a schedule, and the remedy; None for one that is right or filled in later."""
    written = schedule.strip()
    if written.startswith(("TZ=", "CRON_TZ=")):
        written = written.partition(" ")[2].strip()
    if not written or not is_known(written):
        return None
    if written.startswith("@"):
        is_right = written in _DESCRIPTORS or _EVERY.match(written) is not None
        return None if is_right else ("is not a descriptor", f"write one of {', '.join(_DESCRIPTORS)}, or five fields")
    fields = written.split()
    if len(fields) != len(_FIELDS):
        told = "write minute, hour, day of the month, month and day of the week"
        return f"has {len(fields)} fields in place of five", told
    for value, (what, low, high) in zip(fields, _FIELDS, strict=True):
        for part in value.split(","):
            if not _fits(part, what, low, high):
                told = "write 0 for Sunday" if what == _FIELDS[-1][0] and "7" in part else f"write {low} to {high}"
                return f"has the {what} `{part}`", told
    return None


def _fits(part: str, what: str, low: int, high: int) -> bool:
    found = _PART.match(part)
    if found is None:
        return False
    names = _NAMES.get(what, {})
    first, last, step = found["low"], found["high"], found["step"]
    if step is not None and int(step) == 0:
        return False
    if first in ("*", "?"):
        return last is None
    numbers = [names.get(word.lower(), int(word) if word.isdecimal() else -1) for word in (first, last or first)]
    return low <= numbers[0] <= numbers[1] <= high
