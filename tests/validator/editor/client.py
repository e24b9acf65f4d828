"""An editor: a client of the language server that opens, changes and saves files."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types
from pygls.lsp.client import LanguageClient

ROOT = Path(__file__).parents[3]
PATIENCE_SECONDS = 30
Result = TypeVar("Result")


class Editor:
    """One server process and its client. Methods wait for the answer."""

    def __init__(self, *, encoding: types.PositionEncodingKind | None = None, resolves: bool = True) -> None:
        self._loop = asyncio.new_event_loop()
        self._client = LanguageClient("editor", "1")
        self._texts: dict[Path, str] = {}
        self._versions: dict[Path, int] = {}
        self._shown: dict[str, types.PublishDiagnosticsParams] = {}
        self.messages: list[str] = []
        self._listen()
        self._run(self._start(encoding, resolves=resolves))

    async def _start(self, encoding: types.PositionEncodingKind | None, *, resolves: bool) -> None:
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "validator")}
        await self._client.start_io(sys.executable, "-m", "trainyard", "lsp", env=environment)
        support = types.ClientCodeActionResolveOptions(["edit"]) if resolves else None
        capabilities = types.ClientCapabilities(
            text_document=types.TextDocumentClientCapabilities(
                code_action=types.CodeActionClientCapabilities(resolve_support=support)
            ),
            general=types.GeneralClientCapabilities(position_encodings=[encoding] if encoding else None),
        )
        result = await self._client.initialize_async(types.InitializeParams(capabilities, workspace_folders=[]))
        self.capabilities = result.capabilities
        self._client.initialized(types.InitializedParams())

    def _listen(self) -> None:
        def publish(params: types.PublishDiagnosticsParams) -> None:
            self._shown[params.uri] = params

        def show(params: types.ShowMessageParams) -> None:
            self.messages.append(params.message)

        self._client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(publish)
        self._client.feature(types.WINDOW_SHOW_MESSAGE)(show)

    def _run(self, work: Coroutine[Any, Any, Result]) -> Result:
        return self._loop.run_until_complete(asyncio.wait_for(work, PATIENCE_SECONDS))

    def close(self) -> None:
        """End the server."""
        client: Any = self._client

        async def end() -> None:
            await client.shutdown_async(None)
            client.exit(None)
            await client.stop()

        self._run(end())
        self._loop.close()

    def open_folder(self, folder: Path) -> None:
        """Open a folder beside those that are open."""
        added = [types.WorkspaceFolder(folder.as_uri(), folder.name)]
        event = types.WorkspaceFoldersChangeEvent(added=added, removed=[])
        self._client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))

    def open(self, path: Path, text: str | None = None) -> list[types.Diagnostic]:
        """Open a file, with a text that is not saved if one is given, and return what is shown about it."""
        self.open_quietly(path, text)
        return self.shown(path)

    def open_quietly(self, path: Path, text: str | None = None) -> None:
        """Open a file and wait for nothing."""
        self._texts[path] = path.read_text() if text is None else text
        self._versions[path] = 1
        item = types.TextDocumentItem(path.as_uri(), "yaml", 1, self._texts[path])
        self._client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def type(self, path: Path, text: str) -> list[types.Diagnostic]:
        """Replace the text of an open file, and return what is shown about it."""
        self._texts[path] = text
        self._versions[path] += 1
        identifier = types.VersionedTextDocumentIdentifier(self._versions[path], path.as_uri())
        change = types.TextDocumentContentChangeWholeDocument(text)
        self._client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [change]))
        return self.shown(path)

    def save(self, path: Path, text: str) -> None:
        """Write a file and tell the server."""
        path.write_text(text)
        self._shown.clear()
        identifier = types.TextDocumentIdentifier(path.as_uri())
        self._client.text_document_did_save(types.DidSaveTextDocumentParams(identifier))

    def shown(self, path: Path) -> list[types.Diagnostic]:
        """Return what is shown about the current text of a file."""
        version = self._versions[path]

        def is_shown() -> bool:
            found = self._shown.get(path.as_uri())
            return found is not None and found.version == version

        self.wait(is_shown)
        return list(self._shown[path.as_uri()].diagnostics)

    def is_silent(self, path: Path) -> bool:
        """Return true if nothing was ever shown about a file."""
        return path.as_uri() not in self._shown

    def wait(self, condition: Callable[[], bool]) -> None:
        """Wait for a condition that the server's messages fulfil."""

        async def poll() -> None:
            while not condition():
                await asyncio.sleep(0.01)

        self._run(poll())

    def hover(self, path: Path, line: int, character: int) -> str:
        """Return the text that is shown at a place."""
        at = types.Position(line, character)
        parameters = types.HoverParams(types.TextDocumentIdentifier(path.as_uri()), at)
        found = self._run(self._client.text_document_hover_async(parameters))
        contents = found.contents if found is not None else types.MarkupContent(types.MarkupKind.Markdown, "")
        assert isinstance(contents, types.MarkupContent)
        return contents.value

    def actions(self, path: Path, area: types.Range, *only: str) -> list[types.CodeAction]:
        """Return the actions for a range, of some kinds."""
        context = types.CodeActionContext([], only=list(only) or None)
        parameters = types.CodeActionParams(types.TextDocumentIdentifier(path.as_uri()), area, context)
        found = self._run(self._client.text_document_code_action_async(parameters))
        return [action for action in found or () if isinstance(action, types.CodeAction)]

    def apply(self, path: Path, action: types.CodeAction) -> str:
        """Return the text of a file after an action, which is resolved if it has no edit yet."""
        if action.edit is None:
            action = self._run(self._client.code_action_resolve_async(action))
        assert action.edit is not None
        (change,) = action.edit.document_changes or ()
        assert isinstance(change, types.TextDocumentEdit)
        assert (change.text_document.uri, change.text_document.version) == (path.as_uri(), self._versions[path])
        return applied(self._texts[path], [edit for edit in change.edits if isinstance(edit, types.TextEdit)])


def applied(text: str, edits: Sequence[types.TextEdit]) -> str:
    """Return a text after edits in UTF-16, as an editor makes them."""
    lines = text.split("\n")

    def offset(at: types.Position) -> int:
        before = lines[at.line].encode("utf-16-le")[: 2 * at.character].decode("utf-16-le")
        return sum(len(line) + 1 for line in lines[: at.line]) + len(before)

    for edit in sorted(edits, key=lambda edit: (edit.range.start.line, edit.range.start.character), reverse=True):
        text = text[: offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end) :]
    return text
