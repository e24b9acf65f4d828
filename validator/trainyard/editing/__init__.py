"""Applies edits to the text of a file; comments, order and quotes of all else stay as they are.

An edit is made where its node is written out. It is not made where the node comes by an alias or a merge key, where the
layout is not understood, or where the text would then mean anything but the old data with this edit: each new text is
parsed and compared with the data that is expected. Better no fix than a wrong one.
"""

from __future__ import annotations

from collections.abc import Sequence

from validator.editing import changes
from validator.rule import Edit
from validator.source import Source


def apply(source: Source, edits: Sequence[Edit]) -> str:
    """The text of the file after the edits, without those that cannot be made or that meet an earlier one."""
    draft = Draft(source)
    if not draft.make(edits):
        for edit in edits:
            draft.make((edit,))
    return draft.text


class Draft:
    """A text on which edits are made group by group: all of a group, or none."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._made: dict[str, Edit] = {}
        self.text = source.text

    def make(self, group: Sequence[Edit]) -> bool:
        """Make the edits of a group, if all of them can be made beside the earlier ones."""
        # By their words, since the values in them may be of types that cannot be keys.
        edits = {**self._made, **{repr(edit): edit for edit in group}}
        text = changes.edited(self._source, list(edits.values()))
        if text is None:
            return False
        self._made, self.text = edits, text
        return True
