"""Opens the files and folders that are named on the command line."""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Iterable, Iterator

from trainyard.document import opening
from trainyard.document.errors import MistakeError
from trainyard.document.source import BrokenText, Source
from trainyard.startup import NamedTuple

STDIN = "-"

# A byte order mark names the encoding; without one the file is UTF-8, as Kubernetes demands.
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


class MissingError(MistakeError):
    """A file or folder that the user named cannot be opened; `args[0]` says which and why."""


class File(NamedTuple):
    """The text of a file, and its source.

    `fault` is the reason why it cannot be decoded. `folder` is the folder that the user named, None for a named file.
    """

    source: Source
    fault: BrokenText | None = None
    folder: str | None = None
    mark: bytes = b""
    encoding: str = "utf-8"

    def encoded(self, text: str) -> bytes:
        """Returns another text in the encoding of this file."""
        return self.mark + text.encode(self.encoding)


class Found(NamedTuple):
    """A file that is not opened yet; `folder` as in `File`. `path` is None for an empty folder.

    `root` is the folder that no link on the way to the file may leave, if the user named neither the file nor a folder
    of it.
    """

    name: str
    path: str | None
    folder: str | None = None
    root: str | None = None


class Inputs(NamedTuple):
    """The files that names stand for, and the folders of charts, each with the named folder that it is in.

    `links` lead to folders outside of the named ones, and are not followed.
    """

    files: list[Found]
    charts: dict[str, str]
    links: list[str]


def open_files(names: Iterable[str], exclude: Iterable[str] = ()) -> Iterator[File]:
    """Opens all files that the names stand for."""
    return map(open_file, find_inputs(names, exclude).files)


def find_inputs(names: Iterable[str], exclude: Iterable[str] = (), *, gitignore: bool = True) -> Inputs:
    """Finds all inputs that the names stand for: named files, files and charts in folders, and `-` for standard input.

    Files that `exclude` or .gitignore matches are left out of folders. A named file is always found.
    """
    found: list[Found] = []
    charts: dict[str, str] = {}
    links: list[str] = []
    for name in dict.fromkeys(names):
        if name == STDIN:
            found.append(Found("<stdin>", STDIN))
        elif os.path.isdir(name):
            # Most calls name files.
            from trainyard.document.folders import Folder

            folder = Folder.search(name, tuple(exclude), gitignore=gitignore)
            charts |= {chart: name for chart in folder.charts if chart not in charts}
            links += folder.links
            # A folder that cannot be opened is a file that cannot be, unless the user named it.
            inside = [Found(path, path, None if path == name else name) for path in folder.files]
            # An empty folder stands for itself, so that it is not passed over silently.
            found += inside or ([] if folder.charts else [Found(name, None)])
        else:
            found.append(Found(name, name))
    folders = {one.folder for one in found}
    files = found if len(folders) == 1 and None not in folders else _distinct(found)
    return Inputs(files, charts, links)


def _distinct(found: list[Found]) -> list[Found]:
    """Returns each file once, under the first of its names."""
    first: dict[str, Found] = {}
    for one in found:
        first.setdefault(os.path.abspath(one.name), one)
    return list(first.values())


def open_file(found: Found) -> File:
    """Returns the text of a file. Raises `MissingError` if the user named it and it does not exist."""
    if found.path is None:
        return File(Source(found.name, ""))
    if found.path == STDIN:
        return _decoded(File(Source(found.name, "")), sys.stdin.buffer.read(opening.MAX_BYTES + 1))
    return _opened(found.path, found.folder, found.root)


def _opened(name: str, folder: str | None, root: str | None) -> File:
    file = File(Source(name, "", folder), folder=folder)
    try:
        return _decoded(file, _read(name, folder, root))
    except OSError as error:
        reason = opening.reason(error)
        if folder is None and root is None:
            raise MissingError(f"{name or repr(name)}: {reason}") from None
        return file._replace(fault=BrokenText(f"it cannot be opened: {reason}", 1, 1))


def _read(name: str, folder: str | None, root: str | None) -> bytes:
    if root is not None:
        return opening.read_found(opening.real_path(name, root), root)
    return opening.read_named(name) if folder is None else opening.read_found(name, folder)


def _decoded(file: File, data: bytes) -> File:
    name = file.source.name
    if len(data) > opening.MAX_BYTES:
        return file._replace(fault=BrokenText(opening.TOO_LARGE, 1, 1))
    mark, encoding = next(((mark, name) for mark, name in _MARKS if data.startswith(mark)), (b"", "utf-8"))
    file = file._replace(mark=mark, encoding=encoding)
    data = data[len(mark) :]
    try:
        return file._replace(source=Source(name, data.decode(encoding), file.folder))
    except UnicodeDecodeError as error:
        before = data[: error.start].decode(encoding, "replace")
        place = before.count("\n") + 1, len(before) - before.rfind("\n")
        fault = BrokenText(f"it is not {encoding.upper()}: {error.reason}", *place)
        return file._replace(source=Source(name, data.decode(encoding, "replace"), file.folder), fault=fault)
