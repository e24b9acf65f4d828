"""Words that programs refuse: options, values of options, and words that belong to none.

Words with variables and templates are not known: they may be options, values, or nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

from trainyard.analysis.scripts.program_starts import Start
from trainyard.engine.suggestions import closest_match, format_list
from trainyard.facts.programs.model_servers import FOREIGN
from trainyard.facts.programs.option_tables import Option, Release, table
from trainyard.startup import NamedTuple, pattern

_NAME = pattern(r"--?[A-Za-z][\w.-]*\Z")
_NUMBER = pattern(r"-\d+\Z|-\d*\.\d+\Z")
_VARIABLE = ("$", "{{", "<", "`", "%(")
_BOOLEANS = frozenset(("true", "false"))
# Releases of llama.cpp are builds with higher numbers.
_BUILDS = 1000
# Those of Triton are a year and a month.
_YEAR = 20
_ALIKE = 0.86
# Of the next release, most options are those of this one.
_ALIKE_IN_RELEASE = 0.75
# An option whose words a plugin extends: the plugin, and what makes the program check the word.
_EXTENDED = {
    "--tool-call-parser": ("--tool-parser-plugin", "--enable-auto-tool-choice"),
    "--reasoning-parser": ("--reasoning-parser-plugin", ""),
}


_ANY = Option("*", (), "", ())


class Fault(NamedTuple):
    """A fault at a word. `is_of_release` is true if another release takes it."""

    word: int
    message: str
    help: str
    is_of_release: bool = False


class _Given(NamedTuple):
    """An option among the words: its index, what is written, its name with dashes, and the value behind `=`."""

    at: int
    written: str
    name: str
    value: str | None


def option_faults(start: Start) -> Iterator[Fault]:
    """Yields the options that a program does not have."""
    for given in _given(start):
        if not _forms(start, given.name) and FOREIGN.get(start.program.title, {}).get(given.name) is None:
            fault = _unknown(start, given)
            if fault is not None:
                yield fault


def value_faults(start: Start) -> Iterator[Fault]:
    """Yields values that an option does not take, options without a value, and words that are no options."""
    yield from _with_spaces(start)
    for given in _given(start):
        forms = _forms(start, given.name)
        # The beginning of a name may stand for several, and `-O3` has its value with it.
        if forms and (given.name in _all(start) or given.name.startswith("--no-")):
            yield from _of_value(start, given, forms)
    if start.program.style == "clap":
        yield from _repeated(start)
    yield from _stray(start)


def _given(start: Start) -> Iterator[_Given]:
    for index in range(start.first, len(start.words)):
        word = start.words[index]
        if word == "--":
            return
        written, equals, value = word.partition("=")
        if not word.startswith("-") or not _NAME.match(written):
            continue
        yield _Given(index, written, _plain(start, written), value if equals else None)


def _plain(start: Start, written: str) -> str:
    """Returns a name as the table has it: with dashes, without its part behind a point."""
    name = written
    if start.program.has_parts and "." in name:
        name = name.partition(".")[0]
    if start.program.is_dashed or written.startswith("--no_"):
        name = name[:2] + name[2:].replace("_", "-")
    return name


def _all(start: Start) -> dict[str, tuple[Option, ...]]:
    return table(start.program.table).options


@functools.lru_cache(64)
def _known(name: str, part: str, near: tuple[Release, ...]) -> dict[str, tuple[Option, ...]]:
    """Returns the options of a part of a program in some releases, or in all; files start the same ones many times."""
    every = table(name).options.items()
    told = ((option, tuple(one for one in forms if _has(one, part, near))) for option, forms in every)
    return {option: forms for option, forms in told if forms}


def _has(option: Option, part: str, near: tuple[Release, ...]) -> bool:
    if option.part and part and part not in option.part.split():
        return False
    return not near or any(option.is_in(one) for one in near)


def _of(start: Start) -> dict[str, tuple[Option, ...]]:
    return _known(*_key(start))


def _key(start: Start) -> tuple[str, str, tuple[Release, ...]]:
    return start.program.table, start.program.part, start.near


@functools.lru_cache(1024)
def _begun(key: tuple[str, str, tuple[Release, ...]], name: str) -> list[Option]:
    """Returns the forms of the options that a word begins; one dash may also stand before an option and its value."""
    if name.startswith("--"):
        return [one for full, told in _known(*key).items() if full.startswith(name) for one in told]
    # `-tp8` is `-tp` with a value, and `-n` begins `-name`.
    return [
        one
        for full, told in _known(*key).items()
        if not full.startswith("--") and (full.startswith(name) or name.startswith(full))
        for one in told
    ]


def _forms(start: Start, name: str) -> list[Option]:
    """Returns the forms of an option that the program may have; of one with a unique beginning, those."""
    if name in start.program.extra or any(name.startswith(one) for one in start.program.prefixes):
        return [_ANY]
    known = _of(start)
    if name in known:
        return list(known[name])
    if name.startswith("--no-") and any(one.takes == "o" for one in known.get(f"--{name[5:]}", ())):
        return [Option("b", (), "", ())]
    for other in start.program.others:
        if name in table(other).options:
            return list(table(other).options[name])
    styles = ("argparse", "getopt") if name.startswith("--") else ("argparse",)
    return _begun(_key(start), name) if start.program.style in styles else []


def _unknown(start: Start, given: _Given) -> Fault | None:
    program, release = start.program, start.release
    said = f"has no option `{given.written}`, and stops with `{program.refused}`"
    forms = _all(start).get(given.name, ())
    elsewhere = [one for one in forms if not program.part or _is_of_part(start, one)]
    if forms and not elsewhere:
        return Fault(given.at, f"{program.title} {said}", "remove it, or start the program that has it")
    if release is None or (program.style == "llama" and not elsewhere):
        near = closest_match(given.name, _names(start), _ALIKE) if not elsewhere else None
        if near is None or given.name.startswith("--no-") or len(given.name) < 6:
            return None
        return Fault(given.at, f"{program.title} {said}", f"did you mean `{near}`?")
    title = f"{program.title} {_text(release)}"
    if elsewhere:
        return Fault(given.at, f"{title} {said}", _history(elsewhere, release), True)
    if not given.name.startswith("--") and _forms(start, f"-{given.name}"):
        return Fault(given.at, f"{title} {said}", f"write two dashes: `-{given.written}`")
    near = closest_match(given.name, _names(start), _ALIKE_IN_RELEASE)
    return Fault(given.at, f"{title} {said}", f"did you mean `{near}`?" if near else "remove it")


def _is_of_part(start: Start, option: Option) -> bool:
    return not option.part or start.program.part in option.part.split()


def _names(start: Start) -> list[str]:
    return list(_of(start))


def _history(forms: Sequence[Option], release: Release) -> str:
    """Returns which releases have an option."""
    ranges = [one for form in forms for one in form.ranges]
    later = [first for first, _ in ranges if first is not None and first > release]
    earlier = [last for _, last in ranges if last is not None and last < release]
    if later:
        return f"{_text(min(later))} adds it: remove it, or use that release"
    return f"{_text(max(earlier))} is the last release with it: remove it" if earlier else "remove it"


def _with_spaces(start: Start) -> Iterator[Fault]:
    """Yields an option and its value in one word."""
    for index in range(start.first, len(start.words)):
        word = start.words[index]
        name, space, value = word.partition(" ")
        if not space or not name.startswith("-") or not _NAME.match(name) or "\n" in word:
            continue
        if _forms(start, _plain(start, name)):
            said = f"`{word}` is one argument, and {start.program.title} has no option of this name"
            shown = value.strip()
            one = "" if start.program.style == "llama" else f"`{name}={shown}`, or "
            yield Fault(index, f"{said}: it stops", f"write {one}two arguments")


def _of_value(start: Start, given: _Given, forms: Sequence[Option]) -> Iterator[Fault]:
    takes = {one.takes for one in forms}
    title = start.program.title
    after = start.words[given.at + 1] if given.at + 1 < len(start.words) else None
    if start.program.style == "llama" and given.value is not None:
        said = f"{title} takes a value as a word of its own, and has no argument `{start.words[given.at]}`: it stops"
        yield Fault(given.at, said, f"write `{given.written}` and `{given.value}` as two arguments")
        return
    if takes <= {"b", "o"}:
        if given.value and not _is_open(given.value):
            yield Fault(
                given.at, f"`{given.written}` takes no value, and {title} stops at `{given.value}`", _off(given.value)
            )
        elif given.value is None and after is not None and after.lower() in _BOOLEANS:
            yield Fault(given.at + 1, f"`{given.written}` takes no value, and {title} stops at `{after}`", _off(after))
        return
    if takes <= {"v", "c", "n"} and given.value is None and (after is None or _is_option(start, after)):
        words = sorted({word for one in forms for word in one.words}) if takes == {"c"} else []
        told = (
            f"write one of {format_list(f'`{word}`' for word in words)}" if words else "write its value, or remove it"
        )
        yield Fault(given.at, f"`{given.written}` has no value, and {title} stops at it", told)
        return
    if takes == {"c"} and _is_checked(start, given.name):
        value, at = (given.value, given.at) if given.value is not None else (after, given.at + 1)
        known = {word for one in forms for word in one.words}
        if value and value not in known and not _is_open(value):
            yield _not_a_word(start, given, value, at, sorted(known))


def _not_a_word(start: Start, given: _Given, value: str, at: int, known: Sequence[str]) -> Fault:
    release = start.release
    title = start.program.title if release is None else f"{start.program.title} {_text(release)}"
    message = f"{title} does not take `{value}` for `{given.written}`: it stops at start-up"
    later = [one for one in _all(start).get(given.name, ()) if value in one.words]
    if release is not None and later:
        return Fault(at, message, _history(later, release), True)
    near = closest_match(value, known, 0.6)
    return Fault(
        at, message, f"did you mean `{near}`?" if near else f"write one of {format_list(f'`{one}`' for one in known)}"
    )


def _is_checked(start: Start, name: str) -> bool:
    plugin, check = _EXTENDED.get(name, ("", ""))
    given = {one.name for one in _given(start)}
    return plugin not in given and (not check or check in given)


def _repeated(start: Start) -> Iterator[Fault]:
    seen: set[str] = set()
    for given in _given(start):
        if given.name in seen and not {one.takes for one in _forms(start, given.name)} & {"n", "*"}:
            yield Fault(
                given.at, f"`{given.written}` stands twice, and {start.program.title} stops at it", "remove one"
            )
        seen.add(given.name)


def _stray(start: Start) -> Iterator[Fault]:
    """Yields the first word that is neither an option nor the value of one."""
    left = start.program.positionals
    # `serve` in the arguments of an image that starts the server has a rule of its own.
    if left is None or start.words[start.first : start.first + 1] == ("serve",):
        return
    is_free = True
    for index in range(start.first, len(start.words)):
        word = start.words[index]
        if _is_open(word) or word == "--":
            return
        if word.startswith("-") and not _NUMBER.match(word):
            if " " in word:
                return
            name, equals, _ = word.partition("=")
            takes = {one.takes for one in _forms(start, _plain(start, name))}
            if not takes or len(takes) > 1 or not takes <= {"v", "c", "b", "o"}:
                return
            is_free = bool(equals) or takes <= {"b", "o"}
        elif not is_free:
            is_free = True
        elif left:
            left -= 1
        else:
            if word.lower() not in _BOOLEANS:
                said = f"`{word}` is neither an option nor the value of one: {start.program.title} stops with"
                yield Fault(index, f"{said} `{start.program.refused}`", "remove it, or quote it with the word before")
            return


def _is_option(start: Start, word: str) -> bool:
    return word.startswith("--") and " " not in word and bool(_forms(start, _plain(start, word.partition("=")[0])))


def _off(value: str) -> str:
    return "remove the value" if value.lower() in ("true", "1", "yes", "on") else "remove the option and its value"


def _is_open(text: str) -> bool:
    return any(sign in text for sign in _VARIABLE)


def _text(release: Release) -> str:
    if not any(release[1:]) and release[0] > _BUILDS:
        return f"b{release[0]}"
    if release[0] >= _YEAR:
        return f"{release[0]}.{release[1]:02d}"
    plain = ".".join(map(str, release[:3]))
    return f"{plain}.post{release[3]}" if len(release) > 3 and release[3] else plain
