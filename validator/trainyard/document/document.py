"""Documents, places in them, and edits: the targets of findings and the content of fixes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainyard.document.source import Path, Position, Source, narrowed
from trainyard.startup import NamedTuple

if TYPE_CHECKING:
    from yaml import Node


class Document:
    """One YAML or JSON document: `tree` is its plain data, and `locate` finds a place of it in the text.

    `repeated` holds the places of duplicate mapping keys: the parser keeps the last.
    """

    __slots__ = ("_node", "index", "repeated", "source", "tree")

    # False for the values of a chart: they may have a `kind` and are not a Kubernetes object.
    may_be_object = True
    # The fabric that the values name.
    profile: str | None = None

    def __init__(self, source: Source, index: int, tree: Any, repeated: tuple[Path, ...]) -> None:
        self.source = source
        self.index = index
        self.tree = tree
        self.repeated = tuple(Place(self, path, on_key=True) for path in repeated)
        self._node: Node | None = None

    @property
    def weight(self) -> int:
        """The total length of the source texts."""
        return len(self.source.text)

    @property
    def node(self) -> Node | None:
        """The root node with its marks; parsed again on first use, since few files have findings."""
        if self._node is None:
            from trainyard.document import yaml_nodes

            roots = yaml_nodes.roots(self.source)
            self._node = roots[self.index] if self.index < len(roots) else None
        return self._node

    def locate(self, place: Place) -> Position:
        """Returns the position of a place; if the place does not exist, of its nearest existing ancestor."""
        from trainyard.document import positions

        if self.node is None:
            return Position(self.source, 1, 1, 1, 1)
        return positions.locate(self.source, self.node, place.path, on_key=place.on_key, line=place.line)

    def locate_inside(self, host: Place, place: Place) -> Position:  # noqa: ARG002
        """Returns the position of a place of a document that `host` holds, if its text is none of the user's."""
        return self.locate(host)

    def extent(self, place: Place) -> tuple[Source, int, int]:
        """Returns the file, and the first and last line of everything at a place."""
        from trainyard.document import positions

        if self.node is None:
            position = self.locate(place)
            return position.source, position.line, position.end_line
        return self.source, *positions.extent(self.node, place.path)

    @property
    def has_defaults_only(self) -> bool:
        """True for an object that a chart renders from its defaults: its user sets what these leave empty."""
        return False

    @property
    def values_files(self) -> tuple[Document, ...]:
        """The values files from which a chart rendered the document, the last one winning; empty for any other one."""
        return ()

    def value_place(self, path: Path) -> Place | None:  # noqa: ARG002
        """Returns the place of a chart's value in the values files, None for a document that no chart renders."""
        return None

    def explain(self, place: Place) -> tuple[tuple[Position, str], ...]:  # noqa: ARG002
        """Returns positions that explain the origin of a place, each with a few words; none for a literal place."""
        return ()

    def written(self, place: Place) -> Place | None:
        """Returns the place in a user's file with the content of this place, None if no file has it unchanged."""
        return place

    def translate(self, edit: Edit) -> Edit | None:
        """Returns the edit in terms of the user's file, None if no edit there has the same effect."""
        return edit


class EmbeddedDocument(Document):
    """A document within a scalar of another one: JSON in a ConfigMap, or a CNI configuration."""

    __slots__ = ("host",)

    def __init__(self, host: Place, document: Document) -> None:
        super().__init__(document.source, document.index, document.tree, ())
        self.host = host
        self.repeated = tuple(Place(self, place.path, on_key=True) for place in document.repeated)

    def locate(self, place: Place) -> Position:
        """Returns the position in the host's file, which holds this document's text in one of its scalars."""
        from trainyard.document import positions

        host = self.host.document.written(self.host) or self.host
        outside, inside = host.document.node, self.node
        found = (
            positions.locate_embedded(
                host.document.source, outside, host.path, inside, place.path, on_key=place.on_key, line=host.line
            )
            if outside is not None and inside is not None
            else None
        )
        return host.document.locate_inside(host, place) if found is None else found

    def extent(self, place: Place) -> tuple[Source, int, int]:
        """Returns the lines of the position alone: blocks of an embedded text are not measured."""
        position = self.locate(place)
        return position.source, position.line, position.end_line

    def explain(self, place: Place) -> tuple[tuple[Position, str], ...]:  # noqa: ARG002
        """Returns the explanation of the scalar that holds the document."""
        return self.host.document.explain(self.host)

    def translate(self, edit: Edit) -> Edit | None:
        """Returns the edit in the scalar of the user's file if that holds the same text."""
        host = self.host.document.written(self.host)
        if host is None or host == self.host:
            return edit if host is not None else None
        return edit._replace(at=edit.at._replace(document=EmbeddedDocument(host, self)))


class TextDocument(Document):
    """A file that is no YAML, such as a script: a place in it is a line. Its text is `tree`."""

    __slots__ = ()

    may_be_object = False

    def __init__(self, source: Source) -> None:
        super().__init__(source, 0, source.text, ())

    @property
    def node(self) -> Node | None:
        """Nothing: there are no nodes."""
        return None

    def locate(self, place: Place) -> Position:
        """Returns the position of a line."""
        from trainyard.document.source import lines

        written = lines(self.source)
        line = min(max(place.line, 1), len(written))
        text = written[line - 1]
        return Position(self.source, line, len(text) - len(text.lstrip()) + 1, line, len(text) + 1)

    def translate(self, edit: Edit) -> Edit | None:  # noqa: ARG002
        """Returns nothing: only files that the user named are changed."""
        return None


class Place(NamedTuple):
    """A node of a document, or a line of its text: `line` counts the lines of a block scalar from 1; 0 is all of it.

    `words` is the part of the text that is meant, if it is not all of it.
    """

    document: Document
    path: Path = ()
    line: int = 0
    on_key: bool = False
    words: str = ""

    def child(self, *keys: str | int) -> Place:
        """Returns the place of a field or an item below this one, whether it exists or not."""
        # Twice as fast as calling the class, and a file of one job has a hundred places.
        return tuple.__new__(Place, (self.document, self.path + keys, 0, False, ""))

    def key(self) -> Place:
        """Returns the place of the key instead of its value."""
        return self._replace(on_key=True)

    def below(self, line: int) -> Place:
        """Returns the place of a line in the text of this block scalar, counted from 0."""
        return self._replace(line=line + 1)

    def word(self, line: int, words: str) -> Place:
        """Returns the place of words in the text of this scalar, in a line counted from 0."""
        return Place(self.document, self.path, line + 1, False, words)

    def locate(self) -> Position:
        """Returns the position of this place in a file, of its words if the text there has them once."""
        position = self.document.locate(self)
        return narrowed(position, self.words) if self.words else position


class SetValue(NamedTuple):
    """Edit: set the scalar at this place to another value; its quotes stay."""

    at: Place
    value: Any


class Add(NamedTuple):
    """Edit: add a field to the mapping at this place, and create missing mappings."""

    at: Place
    key: str
    value: Any


class Append(NamedTuple):
    """Edit: append an item to the list at this place, and create a missing list."""

    at: Place
    value: Any


class Remove(NamedTuple):
    """Edit: remove the field or item at this place."""

    at: Place


class Rename(NamedTuple):
    """Edit: rename the key at this place."""

    at: Place
    key: str


class Substitute(NamedTuple):
    """Edit: replace the first `old` in the text at this place (a line of a script, or a scalar) by `new`."""

    at: Place
    old: str
    new: str


Edit = SetValue | Add | Append | Remove | Rename | Substitute
