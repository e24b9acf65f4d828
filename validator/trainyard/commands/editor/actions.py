"""Code actions: the fix of a finding, all fixes of a file, and a comment that allows a finding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls import uris

from trainyard.commands.editor.messages import covers
from trainyard.commands.editor.ruler import Ruler, text_edits
from trainyard.linting.allowing import can_allow

if TYPE_CHECKING:
    from trainyard.commands.editor.projects import Snapshot
    from trainyard.document.files import File
    from trainyard.engine.finding import Finding

FIX_ALL = "source.fixAll.trainyard"
KINDS = (types.CodeActionKind.QuickFix.value, types.CodeActionKind.SourceFixAll.value)
# A placeholder that the user replaces: a suppression without a reason is a finding itself.
REASON = "TODO say why this is right here"


class Offer:
    """The actions for one file of a snapshot. Edits are computed when `resolve` asks for them."""

    def __init__(self, snapshot: Snapshot, path: str, encoding: str | None, versions: dict[str, int | None]) -> None:
        self._snapshot = snapshot
        self._path = path
        self._encoding = encoding
        self._versions = versions

    def actions(self, area: types.Range, only: Sequence[str] | None) -> Iterator[types.CodeAction]:
        """Yields the actions in a range, of the kinds that the editor asks for. Those with `data` are not resolved."""
        findings = self._snapshot.findings(self._path)
        if _wants(only, types.CodeActionKind.QuickFix.value):
            for finding in findings:
                if self._is_in(finding, area):
                    yield from self._of_finding(finding)
        fixable = sum(finding.rule.fix == "safe" and bool(finding.edits) for finding in findings)
        if fixable and _wants(only, FIX_ALL):
            title = "Fix everything in this file that has a safe fix"
            yield types.CodeAction(title, kind=FIX_ALL, data=self._data(fix_all=True))

    def _of_finding(self, finding: Finding) -> Iterator[types.CodeAction]:
        if finding.rule.fix == "safe" and finding.edits:
            after = self._snapshot.fix_one(finding)
            if after is not None:
                edit = self._edit(after)
                title = f"Fix {finding.rule.name}: {finding.help}" if finding.help else f"Fix {finding.rule.name}"
                yield types.CodeAction(title, kind=types.CodeActionKind.QuickFix, edit=edit, is_preferred=True)
        if can_allow(finding):
            title = f"Allow {finding.rule.name} here, with a reason"
            data = self._data(rule=finding.rule.code, order=list(finding.order), message=finding.message)
            yield types.CodeAction(title, kind=types.CodeActionKind.QuickFix, data=data)

    def resolve(self, data: dict[str, Any]) -> types.WorkspaceEdit | None:
        """Returns the edit of an action; None if the file has changed so that there is none."""
        if data.get("fix_all"):
            return self._edit(self._snapshot.fix_file(self._path))
        for finding in self._snapshot.findings(self._path):
            if [list(finding.order), finding.message] == [data.get("order"), data.get("message")]:
                after = self._snapshot.allow(finding, REASON)
                return self._edit(after) if after is not None else None
        return None

    def _data(self, **fields: Any) -> dict[str, Any]:
        return {"uri": uris.from_fs_path(self._path), **fields}

    def _is_in(self, finding: Finding, area: types.Range) -> bool:
        own = Ruler(finding.position.source.text, self._encoding).range(finding.position)
        return covers(own, area.start) or covers(own, area.end) or covers(area, own.start)

    def _edit(self, after: Sequence[File]) -> types.WorkspaceEdit | None:
        before = {file.source.name: file.source for file in self._snapshot.files}
        changes: list[types.TextDocumentEdit | types.CreateFile | types.RenameFile | types.DeleteFile] = []
        for file in after:
            old = before[file.source.name]
            if file.source.text != old.text:
                path = self._snapshot.path(old.name)
                document = types.OptionalVersionedTextDocumentIdentifier(
                    uri=uris.from_fs_path(path) or "", version=self._versions.get(path)
                )
                edits = text_edits(Ruler(old.text, self._encoding), file.source.text)
                changes.append(types.TextDocumentEdit(document, [*edits]))
        return types.WorkspaceEdit(document_changes=changes) if changes else None


def _wants(only: Sequence[str] | None, kind: str) -> bool:
    """True if an editor asks for a kind of actions, or one that contains it."""
    return not only or any(kind == one or kind.startswith(f"{one}.") for one in only)
