"""Who wrote a line, and when: the rank or pod in its prefix, or the GPU or process of the kernel, and its time.

Sources: c10/util/Logging.cpp of PyTorch (`[E816 01:45:40.1`: month, then day with two digits); `kubectl logs --prefix`
and `--timestamps`; `mpirun --tag-output`; `dmesg -T` and syslog.
"""

from __future__ import annotations

import datetime
import re
from typing import NamedTuple

_NAMES = (
    ("rank", re.compile(r"\[rank(\d+)\]")),
    ("rank", re.compile(r"\[(?:PG [^\]]*)?Rank (\d+)\]")),
    ("rank", re.compile(r"(?:^|\s)\[\d+,(\d+)\]<std(?:err|out)>")),
    ("rank", re.compile(r"Process name: \[\[\d+,\d+\],(\d+)\]")),
    ("rank", re.compile(r"process rank (\d+) with PID")),
    ("pod", re.compile(r"\[pod/([\w.-]+)/")),
    ("pod", re.compile(r"\spod/([\w.-]+)")),
    ("pod", re.compile(r"Successfully assigned [\w.-]+/([\w.-]+) to ")),
)
# The time of `kubectl logs --timestamps`, or the head of a line in /var/log/pods.
_KUBECTL = re.compile(
    r"(?:\[pod/\S+\] )?\d{4}-\d\d-\d\dT[\d:.]+(?:Z |(?:Z|[+-]\d\d:\d\d) std(?:out|err) [FP] )(?:std(?:out|err) [FP] )?"
)
_HOST = re.compile(r"(?:^|[\s\]>])([a-zA-Z][\w.-]*):\d+:\d+ \[\d+\] ")
_GLOG = re.compile(r"\b[EWIF](\d{1,2})(\d\d) (\d\d):(\d\d):(\d\d(?:\.\d+)?)")
_ISO = re.compile(r"\b\d{4}-(\d\d)-(\d\d)[T_ ](\d\d):(\d\d):(\d\d(?:[.,]\d+)?)(Z|[+-]\d\d:?\d\d)?")
# `[Wed Jul 31 23:14:18 2024]` of `dmesg -T`, and `Dec  2 11:38:47` of syslog.
_KERNEL_TIME = re.compile(r"(?:^\[\w{3} |^)([A-Z][a-z]{2}) +(\d{1,2}) (\d\d):(\d\d):(\d\d)\b")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_KERNEL = re.compile(r"NVRM: |oom-kill|Killed process \d+")
_KERNEL_HOST = re.compile(r"\s([\w.-]+) kernel: ")
_GPU = re.compile(r"(?:PCI:|GPU ?)([0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2})")
_PROCESS = re.compile(r"Killed process (\d+)|\bpid=(\d+)")
# The age of an event, as kubectl prints it: `7m43s`, or `12s (x10 over 2m11s)`.
_AGE = re.compile(r"(?:^|\s)((?:\d+[dhms])+)(?=\s)")
_UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1}
# Years are not compared, because glog has none; a leap year has every day.
_YEAR = 2024


class Kernel(NamedTuple):
    """The host, GPU and process of a line of the kernel; the host is empty where the line does not name it."""

    host: str
    gpu: str
    process: str


def kernel(line: str) -> Kernel | None:
    """Returns the host, GPU and process that a line of the kernel names; None for any other line."""
    if _KERNEL.search(line) is None:
        return None
    host, gpu, process = _KERNEL_HOST.search(line), _GPU.search(line), _PROCESS.search(line)
    address = gpu[1].lower()[-10:] if gpu else ""
    return Kernel(host[1] if host else "", address, (process[1] or process[2]) if process else "")


def message(line: str) -> str:
    """Returns a line without the pod and the time that kubectl writes before it, and without the escapes of JSON."""
    found = _KUBECTL.match(line)
    return (line[found.end() :] if found else line).replace('\\"', '"')


def pod(line: str, context: str | None) -> str | None:
    """Returns the pod of a line, also of one that names its rank."""
    for kind, pattern in _NAMES:
        if kind == "pod" and (found := pattern.search(line)):
            return f"pod {found[1]}"
    return context or _host(line)


def _host(line: str) -> str | None:
    # A host name may have the domain of its Service, which is not part of the pod's name.
    found = _HOST.search(line)
    return f"pod {found[1].partition('.')[0]}" if found else None


def origin(line: str, context: str | None) -> str | None:
    """Returns the rank or pod of a line: by its prefix, the object that is described, or the host that NCCL prints.

    Lines of the kernel name a GPU or a process instead.
    """
    for kind, pattern in _NAMES:
        if found := pattern.search(line):
            return f"{kind} {found[1]}"
    if (named := context or _host(line)) is not None:
        return named
    about = kernel(line)
    if about is None or not (about.gpu or about.process):
        return None
    place = f" of {about.host}" if about.host else ""
    return (f"GPU {about.gpu}" if about.gpu else f"process {about.process}") + place


def time(line: str) -> float | None:
    """Returns the time of a line in seconds of the year."""
    if found := _GLOG.search(line):
        return _seconds(found[1], found[2], found[3], found[4], found[5], "")
    if found := _ISO.search(line):
        return _seconds(found[1], found[2], found[3], found[4], found[5], found[6] or "")
    if (found := _KERNEL_TIME.search(line)) and found[1] in _MONTHS:
        return _seconds(str(_MONTHS.index(found[1]) + 1), found[2], found[3], found[4], found[5], "")
    return None


def age(line: str) -> int | None:
    """Returns the age of an event in seconds."""
    found = _AGE.search(line)
    if found is None:
        return None
    return sum(int(number) * _UNITS[unit] for number, unit in re.findall(r"(\d+)([dhms])", found[1]))


def _seconds(month: str, day: str, hour: str, minute: str, second: str, zone: str) -> float | None:
    try:
        moment = datetime.datetime(_YEAR, int(month), int(day), int(hour), int(minute), tzinfo=datetime.UTC)
        offset = _offset(zone)
    except ValueError:
        return None
    start = datetime.datetime(_YEAR, 1, 1, tzinfo=datetime.UTC)
    return (moment - start).total_seconds() + float(second.replace(",", ".")) - offset


def _offset(zone: str) -> float:
    if zone in ("", "Z"):
        return 0
    return (-1 if zone[0] == "-" else 1) * (int(zone[1:3]) * 3600 + int(zone[-2:]) * 60)
