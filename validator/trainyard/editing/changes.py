"""Turns edits into changes of characters, and these into a text that means the edited data."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from trainyard.document.document import (
    Add,
    Append,
    Document,
    Edit,
    EmbeddedDocument,
    Place,
    Remove,
    Rename,
    SetValue,
    Substitute,
)
from trainyard.document.source import Path, Source
from trainyard.document.text import Text
from trainyard.editing import inserting, meaning, removing, replacing
from trainyard.editing.layout import Change, Layout, Rewrite, Spot


def edited(source: Source, edits: Sequence[Edit]) -> str | None:
    """Returns the text after all of the edits, None if they cannot all be made."""
    outer = _with_embedded(edits)
    if outer is None:
        return None
    planned = []
    for change in _planned(source.text, outer):
        if change is None:
            return None
        planned.append(change)
    text = _changed(source.text, sorted(planned, key=lambda change: (change.start, change.end)))
    return text if text is not None and meaning.has_meaning(source, outer, text) else None


def _with_embedded(edits: Sequence[Edit]) -> list[Edit | Rewrite] | None:
    """Returns the edits, with those in embedded documents turned into new texts of the host scalars."""
    inner: dict[Place, list[Edit]] = defaultdict(list)
    documents: dict[Place, EmbeddedDocument] = {}
    result: list[Edit | Rewrite] = []
    for edit in edits:
        document = edit.at.document
        if isinstance(document, EmbeddedDocument):
            inner[document.host].append(edit._replace(at=_own(edit.at)))
            documents[document.host] = document
        else:
            result.append(edit)
    for host, own in inner.items():
        text = edited(documents[host].source, own)
        if text is None or host.line or isinstance(host.document, EmbeddedDocument):
            return None
        result.append(Rewrite(host, text))
    return result


def _own(place: Place) -> Place:
    """Returns the same place in the embedded text, seen as a file of its own."""
    document = place.document
    return place._replace(document=Document(document.source, document.index, document.tree, ()))


def _planned(text: str, edits: Iterable[Edit | Rewrite]) -> Iterator[Change | None]:
    removed: dict[tuple[int, Path], set[str | int]] = defaultdict(set)
    layouts: dict[int, Layout] = {}
    for edit in edits:
        document, path = edit.at.document, edit.at.path
        if isinstance(document, Text):
            yield removing.remove_comment(text, edit.at) if isinstance(edit, Remove) else None
            continue
        layout = layouts.get(document.index) or layouts.setdefault(document.index, Layout(text, document.node))
        if isinstance(edit, Remove) and path:
            removed[(document.index, path[:-1])].add(path[-1])
        else:
            yield _change(text, layout.find(path), edit)
    for (index, path), steps in removed.items():
        yield from removing.remove_entries(text, layouts[index].find(path), steps)


def _change(text: str, found: tuple[Spot, Path] | None, edit: Edit | Rewrite) -> Change | None:
    """Returns the change of an edit; `found` is the spot of the deepest existing part of its path, and the rest."""
    if found is None:
        return None
    spot, rest = found
    if isinstance(edit, Add):
        return inserting.insert_field(text, spot, rest, edit.key, edit.value)
    if isinstance(edit, Append):
        return inserting.insert_item(text, spot, rest, edit.value)
    if rest:
        return None
    if isinstance(edit, SetValue):
        return replacing.replace_value(text, spot, edit.value)
    if isinstance(edit, Rewrite):
        return replacing.replace_lines(text, spot, edit.text)
    if isinstance(edit, Rename):
        return replacing.rename_key(text, spot, edit.key)
    if isinstance(edit, Substitute):
        return replacing.replace_part(text, spot, edit.at.line, edit.old, edit.new)
    return None


def _changed(text: str, ordered: list[Change]) -> str | None:
    pieces: list[str] = []
    position = 0
    for change in ordered:
        if change.start < position:
            return None
        pieces += [text[position : change.start], change.new]
        position = change.end
    return "".join([*pieces, text[position:]])
