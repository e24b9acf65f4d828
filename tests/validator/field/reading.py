"""The cases from the field: files with a mistake that a public issue or discussion confirms as the cause.

A case is judged before any rule is tried on it. It is written anew: a whole, short object in the style of the user,
without any other mistake. It is one file, `cases/<owner>-<repo>/<number>[-slug].yaml`, or a folder of the same name
with `case.yaml` and further files. Headers are `# name: value` lines of the comment at the top. A line that starts
with `#` and two spaces continues the header above it:

- `# link: URL` is the issue or discussion. It is unique.
- `# mistake: TEXT` says in one sentence what is wrong and what happens.
- `# class: NAME` is a line of the file `classes`.
- `# words: REGEX` finds the fields or values that a right message mentions. Case is ignored.
- `# here: on "TEXT"` marks the lines that read TEXT, where a mark is unsuitable. `# here: on "TEXT" in FILE` looks in
  another file of the folder.
- `# out of reach: REASON` is for a mistake that no file shows. Such a case needs no words and no marks.

A line that ends with `# <- here`, in any file of the case, is marked: a right finding is at a marked line. Headers and
marks are removed from the files that are linted. A header leaves an empty line, so all lines keep their numbers.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent
CASES = FOLDER / "cases"
MAIN = "case.yaml"

MARK = re.compile(r"[ ]*# <- here$", re.MULTILINE)
HEADER = re.compile(r"# (link|mistake|class|words|here|out of reach): *(.*)")
CONTINUED = re.compile(r"#  +(\S.*)")
LINK = re.compile(r"https://(github\.com/[\w.-]+/[\w.-]+/(issues|discussions|pull)/\d+|[\w.-]+/\S+)")
PLACE = re.compile(r'on "(.+)"(?: in (\S+))?')
ONCE = ("link", "mistake", "class", "words", "out of reach")
Place = tuple[str, int]


class CaseError(Exception):
    """A case that is not written as it has to be."""


class Case(NamedTuple):
    """A mistake of the field. `files` are the texts to lint by name, and `places` the marked (file, line) pairs."""

    path: Path
    link: str
    mistake: str
    group: str
    words: re.Pattern[str]
    files: Mapping[str, str]
    places: frozenset[Place]
    out_of_reach: str = ""

    @property
    def project(self) -> str:
        """The name of the folder: the owner and the repository."""
        return self.path.parent.name

    @property
    def name(self) -> str:
        """The project, and the file or folder in it."""
        return f"{self.project}/{self.path.stem}"


@functools.cache
def classes() -> tuple[str, ...]:
    """Returns the known classes of mistakes."""
    return tuple((FOLDER / "classes").read_text(encoding="utf-8").split())


def paths() -> list[Path]:
    """Returns the files and folders of all cases."""
    return sorted(path for path in CASES.glob("*/*") if not path.name.startswith("."))


def load(path: Path) -> Case:
    """Reads the case of a file or folder. Raises `CaseError`."""
    main = path / MAIN if path.is_dir() else path
    if not main.is_file():
        raise CaseError(f"{path}: there is no {MAIN}")
    headers, body = _split(main)
    texts = {main.relative_to(path if path.is_dir() else path.parent).as_posix(): body, **_others(path)}
    values = _once(path, headers)
    out_of_reach = values.get("out of reach", "")
    files = {name: MARK.sub("", text) for name, text in texts.items()}
    places = {(name, number) for name, text in texts.items() for number in _marked(text)}
    for line in (value for name, value in headers if name == "here"):
        places |= _places(path, line, main.name, files)
    for name in ("link", "mistake", "class", *(() if out_of_reach else ("words",))):
        if not values.get(name):
            raise CaseError(f"{path}: the header `# {name}: ...` is missing")
    if not places and not out_of_reach:
        raise CaseError(f"{path}: no line ends with `# <- here`, and no header says `# here: on ...`")
    if values["class"] not in classes():
        raise CaseError(f"{path}: `{values['class']}` is no class; the classes are {', '.join(classes())}")
    if not LINK.fullmatch(values["link"]):
        raise CaseError(f"{path}: `{values['link']}` is no link to an issue or a discussion")
    words = _words(path, values.get("words", ""))
    return Case(path, values["link"], values["mistake"], values["class"], words, files, frozenset(places), out_of_reach)


def _split(main: Path) -> tuple[list[tuple[str, str]], str]:
    """Returns the headers of a file, and its text with empty lines in their place."""
    lines = main.read_text(encoding="utf-8").split("\n")
    comment = list(itertools.takewhile(lambda line: line.startswith("#"), lines))
    headers: list[tuple[str, str]] = []
    for line in comment:
        if header := HEADER.fullmatch(line):
            headers.append((header[1], header[2].strip()))
        elif (more := CONTINUED.fullmatch(line)) and headers:
            headers[-1] = (headers[-1][0], f"{headers[-1][1]} {more[1].strip()}")
        else:
            raise CaseError(f"{main}: `{line}` is no header")
    if late := next((line for line in lines[len(comment) :] if HEADER.fullmatch(line)), None):
        raise CaseError(f"{main}: `{late}` is not at the top of the file")
    return headers, "\n".join([*("" for _ in comment), *lines[len(comment) :]])


def _others(path: Path) -> dict[str, str]:
    found = sorted(file for file in path.rglob("*") if file.is_file() and file != path / MAIN) if path.is_dir() else []
    return {file.relative_to(path).as_posix(): file.read_text(encoding="utf-8") for file in found}


def _once(path: Path, headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    values: dict[str, str] = {}
    for name, value in headers:
        if name in ONCE and name in values:
            raise CaseError(f"{path}: the header `# {name}: ...` stands twice")
        values[name] = value
    return values


def _marked(text: str) -> list[int]:
    return [number for number, line in enumerate(text.split("\n"), 1) if MARK.search(line)]


def _places(path: Path, value: str, main: str, files: Mapping[str, str]) -> set[Place]:
    place = PLACE.fullmatch(value)
    if place is None:
        raise CaseError(f'{path}: `# here: {value}` is not understood; write it like `# here: on "text of the line"`')
    name = place[2] or main
    if name not in files:
        raise CaseError(f"{path}: `# here: {value}`: there is no file {name}")
    lines = files[name].split("\n")
    found = {(name, number) for number, line in enumerate(lines, 1) if line.strip() == place[1].strip()}
    if not found:
        raise CaseError(f"{path}: `# here: {value}`: no line reads {place[1]!r}")
    return found


def _words(path: Path, text: str) -> re.Pattern[str]:
    try:
        return re.compile(text, re.IGNORECASE)
    except re.error as error:
        raise CaseError(f"{path}: `# words: {text}` is no regular expression: {error}") from None
