"""The files of a folder as an editor sees them: buffers that are not saved take the place of files on disk."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from trainyard.document import disk_answers, files
from trainyard.document.files import File
from trainyard.document.folders import SUFFIXES
from trainyard.document.source import Source
from trainyard.linting import fixing, pipeline
from trainyard.linting.allowing import allow
from trainyard.linting.discovery import discover
from trainyard.linting.inputs import Fixable
from trainyard.linting.session import Options, Session, start_session

if TYPE_CHECKING:
    from trainyard.engine.engine import Engine
    from trainyard.engine.finding import Finding
    from trainyard.engine.subjects import Reading
    from trainyard.linting.report import Report

# A folder with more files takes a second for each change: only the open files are linted then.
MOST_FILES = 10_000


class Snapshot(NamedTuple):
    """One lint: the files in the state that was linted, and their findings."""

    root: str
    session: Session
    fixable: Fixable
    files: tuple[File, ...]
    report: Report
    only_open: bool = False

    def path(self, name: str) -> str:
        """Returns the absolute path of a file that the linter names."""
        return absolute(self.root, name)

    def findings(self, path: str) -> list[Finding]:
        """Returns the findings in a file."""
        return [finding for finding in self.report.findings if self.path(finding.position.source.name) == path]

    def fix_one(self, finding: Finding) -> tuple[File, ...] | None:
        """Returns the files with one finding corrected, None if its fix cannot be made."""
        return fixing.fix_one(self.files, self.session.engine, finding, self._lint)

    def fix_file(self, path: str) -> tuple[File, ...]:
        """Returns the files with every safe fix made that changes nothing beside one file."""
        own = [file for file in self.files if self.path(file.source.name) == path]

        def lint(drafts: tuple[File, ...], engine: Engine) -> Report:
            changed = {file.source.name: file for file in drafts}
            return self._lint(tuple(changed.get(file.source.name, file) for file in self.files), engine)

        return fixing.fix(own, self.session.engine, lint=lint).after

    def allow(self, finding: Finding, reason: str) -> tuple[File, ...] | None:
        """Returns the files with a finding allowed for a reason, None if no comment or annotation covers it."""
        return allow(finding, reason, self.report, self.files, lambda drafts: self._lint(drafts, self.session.engine))

    def _lint(self, drafts: tuple[File, ...], engine: Engine) -> Report:
        # Names are relative to the root, as for the command line.
        os.chdir(self.root)
        return self.fixable.lint(drafts, engine)


class Project:
    """The files of a root folder, and what is known of them from earlier lints. Not for several threads."""

    def __init__(self, root: str, options: Options, *, alone: bool = False) -> None:
        self.root = root
        self._options = options
        self._alone = alone
        self._known: dict[str, File] = {}
        self._readings: dict[str, tuple[File, Reading]] = {}
        self._buffers: Mapping[str, str] = {}

    def lint(self, buffers: Mapping[str, str]) -> Snapshot:
        """Lints the files of the project; `buffers` are the texts of the open ones, by path. Raises `MistakeError`."""
        os.chdir(self.root)
        disk_answers.forget()
        self._buffers = buffers
        session = start_session((), self._options)
        only_open = not self._alone and self._is_large(session)
        # A file that was never saved has no place among the others yet.
        saved = tuple(path for path in buffers if Path(path).is_file())
        names = saved if self._alone or only_open else (".",)
        fixable = Fixable(names, session.config, session.engine, None, self)
        report = fixable.lint(fixable.files, session.engine)
        return Snapshot(self.root, session, fixable, fixable.files, report, only_open)

    def current(self, file: File) -> File:
        """Returns the buffer of an open file; the same object as before for a text that is the same."""
        name = file.source.name
        text = self._buffers.get(absolute(self.root, name))
        if text is not None:
            file = file._replace(source=Source(name, text, file.folder), fault=None)
        known = self._known.get(name)
        if known is None or known._replace(source=file.source) != file or known.source.text != file.source.text:
            known = self._known[name] = file
        return known

    def read(self, file: File) -> Reading:
        """Returns the reading of a file; that of an earlier lint if the file is the same object."""
        known = self._readings.get(file.source.name)
        if known is None or known[0] is not file:
            known = self._readings[file.source.name] = file, pipeline.read_input(file)
        return known[1]

    def _is_large(self, session: Session) -> bool:
        config = session.config
        found = files.find_inputs((".",), config.exclude, gitignore=config.respect_gitignore)
        return len(found.files) > MOST_FILES


def is_ours(path: str) -> bool:
    """True for a file that the linter reads."""
    return path.endswith(SUFFIXES)


def root_of(path: str, folders: list[str]) -> str | None:
    """Returns the root of the project that a file belongs to; None for a file that is outside of all folders.

    This is the nearest folder above the file that has a configuration, or else the folder that the editor has opened.
    """
    # An editor without a folder often names one that is no project.
    outside = (Path.home(), Path("/"))
    around = [Path(folder) for folder in folders if Path(path).is_relative_to(folder) and Path(folder) not in outside]
    if not around:
        return None
    opened = max(around, key=lambda folder: len(folder.parts))
    configuration = discover(str(Path(path).parent)).path
    nearest = Path(configuration).parent if configuration is not None else opened
    return str(nearest if nearest.is_relative_to(opened) else opened)


def absolute(root: str, name: str) -> str:
    """Returns the absolute path of a file that is named in a root."""
    # `resolve` would follow links, and an editor knows a file by the name that was opened.
    return os.path.normpath(Path(root) / name)
