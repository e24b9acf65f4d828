"""Applies edits to the text of a file; comments, order and quotes of everything else stay.

An edit is made at the place where its node is written out. It is refused if the node comes from an alias or a merge
key, if the layout is not understood, or if the new text would mean anything but the old data with this edit: each new
text is parsed and compared with the expected data. No fix is better than a wrong one.
"""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.document.document import Edit
from trainyard.document.source import Source
from trainyard.editing import changes


def apply(source: Source, edits: Sequence[Edit]) -> str:
    """Returns the text after the edits, except those that cannot be made or that conflict with an earlier one."""
    draft = Draft(source)
    if not draft.make(edits):
        for edit in edits:
            draft.make((edit,))
    return draft.text


class Draft:
    """A text to which edits are applied in groups, each as a whole or not at all."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._made: dict[str, Edit] = {}
        self.text = source.text

    def make(self, group: Sequence[Edit]) -> bool:
        """Applies a group of edits if all of them can be made with the earlier ones. Returns true on success."""
        # Compared as text, since their values may not be hashable.
        edits = {**self._made, **{repr(edit): edit for edit in group}}
        text = changes.edited(self._source, list(edits.values()))
        if text is None:
            return False
        self._made, self.text = edits, text
        return True
