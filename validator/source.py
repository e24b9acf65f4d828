"""Files, the documents in them, and places: what a finding points at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from yaml import Node

    from validator.rule import Edit

# The way to a node of a document: mapping keys and list indexes, from the root.
Path = tuple[str | int, ...]


class Source:
    """The text of one file and the name that the user gave it."""

    __slots__ = ("name", "text")

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text


class Position(NamedTuple):
    """A range of characters in a file; lines and columns count from 1, the end is behind the last character."""

    source: Source
    line: int
    column: int
    end_line: int
    end_column: int


class Document:
    """One YAML or JSON document: `tree` is its plain data, of which `locate` finds the place in the text.

    `repeated` holds the places of mapping keys that stand a second time in their mapping: the parser keeps the last.
    """

    __slots__ = ("_node", "index", "repeated", "source", "tree")

    # Whether it may be a Kubernetes object; the values of a chart are none, though they may have a `kind`.
    may_be_object = True

    def __init__(self, source: Source, index: int, tree: Any, repeated: tuple[Path, ...]) -> None:
        self.source = source
        self.index = index
        self.tree = tree
        self.repeated = tuple(Place(self, path, on_key=True) for path in repeated)
        self._node: Node | None = None

    @property
    def weight(self) -> int:
        """Length of all texts that it is made from."""
        return len(self.source.text)

    @property
    def node(self) -> Node | None:
        """The parsed text with its marks; parsed anew when first asked for, since few files have findings."""
        if self._node is None:
            from validator import reading

            self._node = reading.root(self.source, self.index)
        return self._node

    def locate(self, place: Place) -> Position:
        """Where the place is in the text; where it does not exist, the nearest ancestor that does."""
        from validator import locating

        return locating.locate(self, place)

    def explain(self, place: Place) -> tuple[tuple[Position, str], ...]:  # noqa: ARG002
        """Further positions that say how the place came about, each with a few words; none where it is written so."""
        return ()

    def written(self, place: Place) -> Place | None:
        """The place in a user's file that holds what is at this place, None when no file has it as it is here."""
        return place

    def translate(self, edit: Edit) -> Edit | None:
        """The edit in terms of the file that a user writes, None when there is none that means the same."""
        return edit


class EmbeddedDocument(Document):
    """A document that is the text of a scalar in another one: JSON in a ConfigMap, or a CNI configuration."""

    __slots__ = ("host",)

    def __init__(self, host: Place, document: Document) -> None:
        super().__init__(document.source, document.index, document.tree, ())
        self.host = host
        self.repeated = tuple(Place(self, place.path, on_key=True) for place in document.repeated)

    def explain(self, place: Place) -> tuple[tuple[Position, str], ...]:  # noqa: ARG002
        """What there is to say of the scalar that holds the document."""
        return self.host.document.explain(self.host)

    def translate(self, edit: Edit) -> Edit | None:
        """The edit in the scalar of the user's file, when that holds the same text."""
        host = self.host.document.written(self.host)
        if host is None or host == self.host:
            return edit if host is not None else None
        return edit._replace(at=edit.at._replace(document=EmbeddedDocument(host, self)))


class Place(NamedTuple):
    """A node of a document, or a line of its text: `line` counts the lines of a block scalar from 1, 0 is all of it."""

    document: Document
    path: Path = ()
    line: int = 0
    on_key: bool = False

    def child(self, *keys: str | int) -> Place:
        """The place of a field or an item below this one, whether it exists or not."""
        return Place(self.document, self.path + keys)

    def key(self) -> Place:
        """The same place, but its key is meant and not its value."""
        return self._replace(on_key=True)

    def below(self, line: int) -> Place:
        """A line of the text of this block scalar, counted from 0."""
        return self._replace(line=line + 1)
