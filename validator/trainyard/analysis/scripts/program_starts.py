"""Starts of programs whose options are known, with their releases.

A pin of `pip install` tells the release, or the tag of a public image if no script installs the program. A candidate, a
nightly build, a digest alone and a release outside of the table tell none. What holds of the two releases of the table
that are next to one holds of it.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator

from trainyard.analysis.scripts.pins import pinned
from trainyard.facts.images import ends_with, path_of, tag_of
from trainyard.facts.programs.option_tables import PROGRAMS, WORDS, Program, Release, table
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Command, Container
from trainyard.startup import NamedTuple, pattern

_RELEASE = pattern(r"v?(\d{1,3})\.(\d{1,3})(?:\.(\d{1,3}))?(?:\.(?:post)?(\d{1,3}))?(?P<rest>[-_].*)?\Z")
# Parts of tags that do not change the options. Others, such as `-revised`, may be of a build with a change.
_SUFFIX = pattern(
    r"(?:[-_](?:cu\d+|cuda[\d.]*|rocm[\w.]*|mi\d+x?|x86_64|aarch64|amd64|arm64|ubuntu[\d.]*|[bh]\d00|gb\d00|runtime|srt|py\d*"
    r"|python|sdk|min|igpu|vllm|trtllm|pyt|tf2|intel|xpu|cpu))+\Z"
)
_BUILD = pattern(r"(?:^|-)b(\d{3,5})\Z")
_MOVING = pattern(r"(?:server|full)(?:-(?:cuda\d*|rocm|vulkan|intel|musa))?\Z")
_NEWEST = 99999
# Words that stand before the program.
_WRAPPERS = frozenset(("exec", "env", "nohup", "uv", "numactl", "timeout", "tini", "dumb-init", "sudo", "time"))
_REACH = 8
# With one of these, other programs read the words, or none does.
_PLUGINS = frozenset(("--omni", "--help", "-h", "--version"))
# From these words on, a command has no words of the program.
_ENDS = frozenset(("|", "||", "&&", ";", "&", ">", ">>", "2>", "2>&1", "&>", "<", "|&", "1>", "1>&2", ">&2", "<<<"))
_REDIRECT = pattern(r"(?:\d|&)?>{1,2}&?\S+\Z")
# No registry has a longer name.
_MOST = 512


class Start(NamedTuple):
    """A start of a program. `release` is None if it is not known, and `is_of_image` is true if the image tells it.

    `near` are the releases of the table that are asked: the release itself, or the two next to it.
    """

    program: Program
    command: Command
    words: tuple[str, ...]
    # The index of the first word behind the program.
    first: int
    release: Release | None
    near: tuple[Release, ...]
    is_of_image: bool


def program_starts(container: Container) -> list[Start]:
    """Returns the starts of programs in a container."""
    return _starts.of(container)


def _find(container: Container) -> list[Start]:
    return list(_in_container(container))


# Several rules ask for each container.
_starts: LastIndex[Container, list[Start]] = LastIndex(_find)


def _in_container(container: Container) -> Iterator[Start]:
    image = container.image or ""
    for command in container.commands:
        found = _program(command)
        if found is not None:
            yield _start(found[0], command, found[1], container)
    if container.command or not container.args or not any(word in image for word in WORDS) or len(image) > _MOST:
        return
    path = path_of(image)
    for program in PROGRAMS:
        # Other images of llama.cpp start a shell script.
        is_server = program.style != "llama" or tag_of(image).startswith("server")
        if program.starts and is_server and any(ends_with(path, one) for one in program.images):
            places = tuple(container.at.child("args", index) for index in range(len(container.args)))
            yield _start(program, Command(container.args, places, container.at.child("args")), 0, container)


def _start(program: Program, command: Command, first: int, container: Container) -> Start:
    words = command.words
    end = next((at for at, word in enumerate(words) if at >= first and _is_end(word)), len(words))
    release, is_of_image = _release(program, container)
    near = _near(program, release) if release is not None else ()
    return Start(program, command, words[:end], first, release if near else None, near, is_of_image)


def _is_end(word: str) -> bool:
    return word in _ENDS or _REDIRECT.match(word) is not None


def _program(command: Command) -> tuple[Program, int] | None:
    """Returns the program of a command, and the index of the first word behind it."""
    words = command.words
    for index, word in enumerate(words[:_REACH]):
        name = word.rpartition("/")[2]
        if index and words[index - 1] == "-m":
            found = next((program for program in PROGRAMS if word in program.modules), None)
            return _unless_other(found, words, index + 1) if found is not None else None
        for program in PROGRAMS:
            for one in program.commands:
                if name == one[0] and words[index + 1 : index + len(one)] == one[1:] and _is_first(words[:index]):
                    return _unless_other(program, words, index + len(one))
        if index == 0 and name not in _WRAPPERS and not name.startswith("python"):
            return None
    return None


def _unless_other(program: Program, words: tuple[str, ...], first: int) -> tuple[Program, int] | None:
    """Returns the program, unless a word says that another part or a plugin reads the words."""
    is_other = words[first : first + 1] and words[first] in program.unlike
    return None if is_other or not _PLUGINS.isdisjoint(words) else (program, first)


def _is_first(before: tuple[str, ...]) -> bool:
    return not before or before[0].rpartition("/")[2] in _WRAPPERS


def _release(program: Program, container: Container) -> tuple[Release | None, bool]:
    """Returns the release, and true if the image tells it."""
    if program.package:
        told = pinned(container, program.package) or pinned(container, program.package.replace("_", "-"))
        if told is not None:
            return (*told, *(0,) * (4 - len(told)))[:4], False
        if _is_installed(program.package, container):
            return None, False
    image = container.image or ""
    if len(image) > _MOST or not any(ends_with(path_of(image), one) for one in program.images):
        return None, False
    if program.style == "llama":
        return _build(tag_of(image)), True
    found = _RELEASE.match(tag_of(image))
    if found is None or (found["rest"] and not _SUFFIX.match(found["rest"])):
        return None, False
    return tuple(int(found[part] or 0) for part in (1, 2, 3, 4)), True


def _build(tag: str) -> Release | None:
    """Returns the build of llama.cpp; without a number, the tag is that of the newest one."""
    found = _BUILD.search(tag)
    if found is not None:
        return int(found[1]), 0, 0, 0
    return (_NEWEST, 0, 0, 0) if _MOVING.match(tag) else None


def _near(program: Program, wanted: Release) -> tuple[Release, ...]:
    """Returns the releases of the table to ask for one; none if it is outside of the table."""
    releases = table(program.table).releases
    if program.style == "llama" or wanted in releases:
        return (wanted,)
    at = bisect(releases, wanted)
    if program.is_steady and at and releases[at - 1][:3] == wanted[:3]:
        return (releases[at - 1],)
    if at == len(releases):
        # A later build of the last release has its options.
        return releases[-1:] if releases[-1][:3] == wanted[:3] else ()
    return releases[at - 1 : at + 1] if at else ()


def _is_installed(package: str, container: Container) -> bool:
    """True if a script installs the package in a release that it does not tell."""
    name = re.escape(package).replace("_", "[-_]")
    install = re.compile(rf"\binstall\b[^\n;&|]*(?<![\w.-])(?:{name}(?![\w.-]*[/\w])|\S*/{name}\b)")
    return any(install.search(script.text) for script in container.scripts)
