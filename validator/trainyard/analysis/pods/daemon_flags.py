"""The flags in the arguments of a daemon that its release lacks, and the values that it refuses.

Go's own package `flag` takes one dash and two for the same, and stops at the first word that is no flag. The packages
pflag and kingpin read a word with one dash as letters. A switch has its value behind `=` only. kingpin also reads
`--no-x`. Words with variables or templates are left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.daemon_releases import Start
from trainyard.engine.suggestions import closest_match, format_list
from trainyard.facts.programs.daemons import LIBRARY_SWITCHES, Daemon, Flag, Minor, flags, library_flags
from trainyard.facts.programs.go_words import BOOLEANS
from trainyard.startup import NamedTuple, pattern

_NAME = pattern(r"-{1,2}[A-Za-z][\w.-]*\Z")
_DURATION = pattern(r"[-+]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)\Z")
_INTEGER = pattern(r"[-+]?(?:[\d_]+|0[bBoO][0-7_]+|0[xX][\da-fA-F_]+)\Z")
_NUMBER = pattern(
    r"[-+]?(?:[\d_]+\.?[\d_]*|\.\d[\d_]*)(?:[eE][-+]?\d+)?\Z|[-+]?(?i:inf(?:inity)?|nan|0x[\da-f_.p+-]+)\Z"
)
_DIGITS = pattern(r"\d+\Z")
_A = {"b": "`true` or `false`", "d": "a duration", "i": "an integer", "u": "an integer", "f": "a number"}
_VARIABLE = ("$", "{", "<")
# Longer values are no numbers and switches.
_MOST = 64


class Fault(NamedTuple):
    """A fault of a word of a command. `is_of_release` is true if another release has the flag."""

    message: str
    help: str
    is_of_release: bool = False
    word: int = 0


class _Given(NamedTuple):
    """A flag in the words of a command. `value_at` is the index of its value, and `name` has dashes only."""

    at: int
    written: str
    name: str
    value: str
    value_at: int


def faults(start: Start) -> Iterator[Fault]:
    """Yields the faults in the words of a daemon's command."""
    libraries = library_flags(start.daemon)
    for given in _given(start):
        if start.daemon.dashes == 2 and not given.written.startswith("--"):
            fault, at = _letters(start, given.written, given.name), given.at
        elif given.name in libraries:
            continue
        else:
            fault, at = flag_fault(start.daemon, start.release, given.name, given.written), given.at
            if fault is None:
                fault, at = value_fault(start.daemon, start.release, given.name, given.value), given.value_at
        if fault is not None:
            yield fault._replace(word=at)


def _given(start: Start) -> Iterator[_Given]:
    """Yields the flags, as far as the daemon reads them."""
    words, index, known = start.command.words, start.first, flags(start.daemon)
    while index < len(words) and words[index] != "--":
        written, equals, value = words[index].partition("=")
        at = value_at = index
        index += 1
        if not written.startswith("-") or written == "-":
            if start.daemon.dashes == 1:
                return
            continue
        name = written.lstrip("-").replace("_", "-")
        flag = _flag(name, known)
        is_switch = flag.takes == "b" if flag is not None else name in LIBRARY_SWITCHES
        if not equals and not is_switch and index < len(words) and not words[index].startswith("-"):
            value, value_at, index = words[index], index, index + 1
        if _NAME.match(written) and not _has_variable(written):
            yield _Given(at, written, name, value, value_at)


def flag_fault(daemon: Daemon, release: Minor | None, name: str, shown: str) -> Fault | None:
    """Returns the fault of a flag that a release lacks; None as release is the newest one."""
    known = flags(daemon)
    if not known:
        return None
    flag = _flag(name, known)
    if release is None:
        if flag is None or not flag.releases or flag.releases[-1][1] is None:
            return None
        last = flag.releases[-1][1]
        said = f"`{shown}` is a flag of {daemon.title} until {_text(last)}, and `latest` is a newer release: it exits"
        return Fault(said, f"remove the flag, or name the tag of a release until {_text(last)}", True)
    if flag is not None and flag.is_in(release):
        return None
    said = f"{daemon.title} {_text(release)} has no flag `{shown}`: it exits when it reads the flag"
    if flag is not None:
        return Fault(said, _history(flag, release), True)
    near = closest_match(name, [one for one, other in known.items() if other.is_in(release)], 0.8)
    dashes = shown[: len(shown) - len(shown.lstrip("-"))]
    return Fault(said, f"did you mean `{dashes}{near}`?" if near else "no known release has this flag: remove it")


def value_fault(daemon: Daemon, release: Minor | None, name: str, value: str) -> Fault | None:
    """Returns the fault of a value that a flag does not take."""
    flag = _flag(name, flags(daemon))
    if flag is None or not 0 < len(value) <= _MOST or (release is not None and not flag.is_in(release)):
        return None
    if _has_variable(value) or _takes(flag.takes, value):
        return None
    words = flag.takes[1:].split("|")
    listed = format_list(f"`{one}`" for one in words)
    wanted = _A.get(flag.takes) or (f"one of {listed}" if len(words) > 1 else f"{listed} only")
    told = f"write {wanted.removesuffix(' only')}"
    if flag.takes == "d" and _DIGITS.match(value):
        told = f"write a unit, such as `{value}s`"
    return Fault(f"`--{name}` of {daemon.title} takes {wanted}, not `{value}`: it exits", told)


def _takes(takes: str, value: str) -> bool:
    if takes[0] == "=":
        return value in takes[1:].split("|")
    if takes == "b":
        return value in BOOLEANS
    form = {"d": _DURATION, "i": _INTEGER, "u": _INTEGER, "f": _NUMBER}.get(takes)
    return form is None or form.match(value) is not None


def _letters(start: Start, written: str, name: str) -> Fault | None:
    """Returns the fault of a long flag with one dash, whose first letter is no flag."""
    known = flags(start.daemon)
    letters = {"h", "v", *(flag.short for flag in known.values())}
    if len(name) < 2 or written[1] in letters or start.release is None:
        return None
    said = f"{start.daemon.title} reads `{written}` as the flag `-{written[1]}`, which it lacks: it exits"
    if name in library_flags(start.daemon) or ((flag := _flag(name, known)) is not None and flag.is_in(start.release)):
        return Fault(said, f"write two dashes: `--{name}`")
    near = closest_match(name, [one for one, other in known.items() if other.is_in(start.release)], 0.6)
    return Fault(said, f"did you mean `--{near}`?" if near else "write two dashes, and a flag of this release")


def _flag(name: str, known: dict[str, Flag]) -> Flag | None:
    found = known.get(name)
    if found is None and name.startswith("no-"):
        return known.get(name.removeprefix("no-"))
    return found


def _history(flag: Flag, release: Minor) -> str:
    """Returns which releases have a flag, and what to do."""
    earlier = [last for _, last in flag.releases if last is not None and last < release]
    later = [first for first, _ in flag.releases if first is not None and first > release]
    if later:
        return f"{_text(min(later))} adds the flag: remove it, or use an image of that release"
    return f"{_text(max(earlier))} is the last release with the flag: remove it" if earlier else "remove the flag"


def _text(release: Minor) -> str:
    return f"{release[0]}.{release[1]}"


def _has_variable(text: str) -> bool:
    return any(sign in text for sign in _VARIABLE)
