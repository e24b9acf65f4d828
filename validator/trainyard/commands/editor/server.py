"""The server: reads the editor's messages from standard input, and lints in a thread of its own."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from lsprotocol import types
from pygls import uris
from pygls.exceptions import JsonRpcInternalError
from pygls.lsp.server import LanguageServer

from trainyard import __version__
from trainyard.commands.editor import messages, projects
from trainyard.commands.editor.actions import KINDS, Offer
from trainyard.commands.editor.ruler import Ruler
from trainyard.document.errors import MistakeError

if TYPE_CHECKING:
    from trainyard.commands.editor.projects import Project, Snapshot
    from trainyard.linting.session import Options

# Time without a key press before the files are linted.
DEBOUNCE_SECONDS = 0.2
# Threads of macOS have half a mebibyte, too little for a parser of nested files.
_STACK_BYTES = 16 * 2**20
Result = TypeVar("Result")
# The version of each open file, and the lint of these versions.
Known = tuple[dict[str, int | None], "Snapshot"]


class Server(LanguageServer):
    """A language server for the files of one editor."""

    def __init__(self, options: Options) -> None:
        # A whole text cannot get out of step; the files are small.
        super().__init__("trainyard", __version__, text_document_sync_kind=types.TextDocumentSyncKind.Full)
        self._options = options
        threading.stack_size(_STACK_BYTES)
        # One thread: the linter's working folder is that of the process.
        self._worker = ThreadPoolExecutor(1, "trainyard")
        self._projects: dict[str, Project] = {}
        self._snapshots: dict[str, tuple[int, Known]] = {}
        self._waiting: dict[str, asyncio.Task[None]] = {}
        # Counts the times that files on disk may have changed.
        self._age = 0
        self._mistakes: dict[str, str] = {}
        self._said: set[str] = set()

    async def changed(self, uri: str, *, pause: float = 0) -> None:
        """Lints the project of a file, after a pause for further changes."""
        path = self._path(uri)
        if path is not None:
            self._schedule(self._root(path), pause)

    async def closed(self, uri: str) -> None:
        """Clears what was said about a file, and lints the files that were beside it."""
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))
        await self.changed(uri)

    async def reread(self) -> None:
        """Lints everything that is open: files on disk, or the configuration, have changed."""
        self._age += 1
        for root in {self._root(path) for path in self._open()}:
            self._schedule(root)

    async def hover(self, uri: str, at: types.Position) -> types.Hover | None:
        """Returns the pages of the rules at a position."""
        path = self._path(uri)
        found = await self._snapshot(path) if path is not None else None
        ruler = self._ruler(self.workspace.get_text_document(uri).source or "")
        if found is None or path is None:
            return messages.hover((), (), ruler, at)
        return messages.hover(found[1].findings(path), found[1].session.config.check_rules, ruler, at)

    async def actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """Returns the actions for a range."""
        offer = await self._offer(params.text_document.uri)
        if offer is None:
            return []
        only = [getattr(kind, "value", kind) for kind in params.context.only or ()]
        found = await self._compute(lambda: list(offer.actions(params.range, only)))
        if not self._resolves():
            found = [await self._resolved(action, offer) for action in found]
        return [action for action in found if action.edit is not None or action.data is not None]

    async def resolve(self, action: types.CodeAction) -> types.CodeAction:
        """Returns an action with its edit."""
        data: Any = action.data
        offer = await self._offer(data["uri"]) if isinstance(data, dict) and "uri" in data else None
        return action if offer is None or action.edit is not None else await self._resolved(action, offer)

    async def _resolved(self, action: types.CodeAction, offer: Offer) -> types.CodeAction:
        if action.edit is None:
            data: Any = action.data
            action.edit = await self._compute(lambda: offer.resolve(data))
            action.data = None
            if action.edit is None:
                self._say(f"{action.title}: there is no edit that does it and changes nothing else")
        return action

    async def _offer(self, uri: str) -> Offer | None:
        path = self._path(uri)
        found = await self._snapshot(path) if path is not None else None
        if path is None or found is None:
            return None
        return Offer(found[1], path, self._encoding, found[0])

    def _schedule(self, root: str, pause: float = 0) -> None:
        if root in self._waiting:
            self._waiting[root].cancel()
        self._waiting[root] = asyncio.ensure_future(self._lint_later(root, pause))

    async def _lint_later(self, root: str, pause: float) -> None:
        await asyncio.sleep(pause)
        paths = [path for path in self._open() if self._root(path) == root]
        try:
            found = await self._snapshot(paths[0]) if paths else None
            if found is not None:
                self._publish(paths, *found)
        except Exception as error:
            self.report_server_error(error, JsonRpcInternalError)

    async def _snapshot(self, path: str) -> Known | None:
        """Returns the lint of the current texts; None if the configuration is wrong."""
        root, age = self._root(path), self._age
        opened = {own: document for own, document in self._open().items() if self._root(own) == root}
        versions = {own: document.version for own, document in opened.items()}
        known = self._snapshots.get(root)
        if known is not None and known[0] == age and known[1][0] == versions:
            return known[1]
        project = self._projects.get(root) or self._projects.setdefault(root, self._project(path, root))
        buffers = {own: document.source or "" for own, document in opened.items()}
        try:
            snapshot = await self._compute(lambda: project.lint(buffers))
        except MistakeError as error:
            self._show_mistake(root, str(error))
            return None
        self._mistakes.pop(root, None)
        if snapshot.only_open:
            most = f"{projects.MOST_FILES:,}"
            self._say(f"{root}: only open files are checked, because the folder has more than {most} files")
        self._snapshots[root] = age, (versions, snapshot)
        return versions, snapshot

    def _project(self, path: str, root: str) -> Project:
        alone = projects.root_of(path, self._folders()) is None
        return projects.Project(root, self._options, alone=alone)

    def _publish(self, paths: list[str], versions: dict[str, int | None], snapshot: Snapshot) -> None:
        opened = self._open()
        for path in paths:
            document = opened.get(path)
            if document is None or document.version != versions.get(path):
                # A later lint is about the new text.
                continue
            ruler = self._ruler(document.source or "")
            shown = [
                messages.diagnostic(finding, snapshot, ruler, self._encoding) for finding in snapshot.findings(path)
            ]
            self.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(document.uri, shown, version=document.version)
            )

    async def _compute(self, work: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._worker, work)

    def _open(self) -> dict[str, Any]:
        """Returns the open files that the linter reads, by path."""
        found = ((self._path(uri), document) for uri, document in self.workspace.text_documents.items())
        return {path: document for path, document in found if path is not None}

    def _path(self, uri: str) -> str | None:
        path = uris.to_fs_path(uri) if uri.startswith("file:") else None
        return os.path.normpath(path) if path is not None and projects.is_ours(path) else None

    def _folders(self) -> list[str]:
        named = [folder.uri for folder in self.workspace.folders.values()] or [self.workspace.root_uri or ""]
        paths = (uris.to_fs_path(uri) for uri in named if uri.startswith("file:"))
        return [os.path.normpath(path) for path in paths if path is not None]

    def _root(self, path: str) -> str:
        return projects.root_of(path, self._folders()) or str(Path(path).parent)

    @property
    def _encoding(self) -> str | None:
        encoding = self.workspace.position_encoding
        return getattr(encoding, "value", encoding)

    def _ruler(self, text: str) -> Ruler:
        return Ruler(text, self._encoding)

    def _resolves(self) -> bool:
        """True if the editor asks for the edit of an action when the user has chosen it."""
        document = self.client_capabilities.text_document
        support = document.code_action.resolve_support if document and document.code_action else None
        return support is not None and "edit" in support.properties

    def _show_mistake(self, root: str, text: str) -> None:
        """Shows a mistake in the configuration, and again only after it was corrected."""
        if self._mistakes.get(root) != text:
            self._mistakes[root] = text
            self.window_show_message(types.ShowMessageParams(types.MessageType.Error, text))

    def _say(self, text: str) -> None:
        """Shows a text once."""
        if text not in self._said:
            self._said.add(text)
            self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, text))

    def report_server_error(self, error: Exception, source: Any) -> None:  # noqa: ARG002
        """Reports a fault of the server to the editor's log; the server goes on."""
        lines = traceback.format_exception(error)
        sys.stderr.write("".join(lines))
        self.window_log_message(types.LogMessageParams(types.MessageType.Error, f"this is a bug in Trainyard: {error}"))


def serve(options: Options) -> None:
    """Serves one editor over standard input and output until it ends."""
    make_server(options).start_io()


def make_server(options: Options) -> Server:
    """Returns a server that knows what to do with each message."""
    server = Server(options)
    _add_documents(server)
    _add_requests(server)
    return server


def _add_documents(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(params: types.DidOpenTextDocumentParams) -> None:
        await server.changed(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(params: types.DidChangeTextDocumentParams) -> None:
        await server.changed(params.text_document.uri, pause=DEBOUNCE_SECONDS)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def closed(params: types.DidCloseTextDocumentParams) -> None:
        await server.closed(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def saved(params: types.DidSaveTextDocumentParams) -> None:  # noqa: ARG001
        await server.reread()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def watched(params: types.DidChangeWatchedFilesParams) -> None:  # noqa: ARG001
        await server.reread()

    @server.feature(types.INITIALIZED)
    async def initialized(params: types.InitializedParams) -> None:  # noqa: ARG001
        await _watch(server)


def _add_requests(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        return await server.hover(params.text_document.uri, params.position)

    options = types.CodeActionOptions(code_action_kinds=KINDS, resolve_provider=True)

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, options)
    async def actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        return await server.actions(params)

    @server.feature(types.CODE_ACTION_RESOLVE)
    async def resolve(action: types.CodeAction) -> types.CodeAction:
        return await server.resolve(action)


async def _watch(server: Server) -> None:
    """Asks the editor to report changes of files on disk, if it can."""
    workspace = server.client_capabilities.workspace
    watched = workspace.did_change_watched_files if workspace else None
    if watched is None or not watched.dynamic_registration:
        return
    patterns = ("**/*.{yaml,yml,json}", "**/pyproject.toml")
    watchers = [types.FileSystemWatcher(pattern) for pattern in patterns]
    registration = types.Registration(
        "files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, types.DidChangeWatchedFilesRegistrationOptions(watchers)
    )
    await server.client_register_capability_async(types.RegistrationParams([registration]))
