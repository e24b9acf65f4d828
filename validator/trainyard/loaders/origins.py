"""Rendered objects that know which value each of their fields comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from validator.source import Document, Path, Place, Position

if TYPE_CHECKING:
    from yaml import Node

    from validator.rule import Edit


class Origin(NamedTuple):
    """The value behind a node of an object.

    `exact` says that the node is a copy of the value, with everything below it; `whole` that it is there because of
    this value alone, so that it goes when the value goes; `named` that it is a list of entries `{name, value}`, which
    the values have as a mapping.
    """

    path: Path
    exact: bool = False
    on_key: bool = False
    whole: bool = False
    named: bool = False


class Layers:
    """The values files of a release, of which the last one wins, over the defaults of its chart."""

    __slots__ = ("defaults", "files")

    def __init__(self, defaults: Document, files: Sequence[Document]) -> None:
        self.defaults = defaults
        self.files = tuple(files)

    def place(self, origin: Origin, line: int = 0) -> Place:
        """The place of a value in the last file that says it, or of its nearest ancestor that a file has."""
        for length in range(len(origin.path), 0, -1):
            for document in reversed(self.files):
                if _holds(document.tree, origin.path[:length]):
                    complete = length == len(origin.path)
                    return Place(document, origin.path, line if complete else 0, origin.on_key)
        return Place(self.files[-1], origin.path, 0, origin.on_key)

    def default(self, origin: Origin) -> Place | None:
        """The place of a value in the chart's defaults, when no file says it."""
        if any(_holds(document.tree, origin.path) for document in self.files):
            return None
        return Place(self.defaults, origin.path) if _holds(self.defaults.tree, origin.path) else None


def at(tree: Any, path: Path, default: Any = None) -> Any:
    """What a tree has at a path, or the default where the path leads nowhere."""
    for step in path:
        known = range(len(tree)) if isinstance(tree, list) else tree if isinstance(tree, dict) else ()
        if step not in known:
            return default
        tree = tree[step]
    return tree


def _holds(tree: Any, path: Path) -> bool:
    nothing = object()
    return at(tree, path, nothing) is not nothing


class RenderedDocument(Document):
    """An object that a chart makes. Its places are those of the values; a place without one is in the rendered text.

    `template` is the file that makes it; `text` is the object as it was rendered, None where the values road made it.
    `profile` is the fabric that the values name.
    """

    __slots__ = ("layers", "origins", "profile", "rendered", "template")

    def __init__(
        self,
        tree: Any,
        layers: Layers,
        origins: Mapping[Path, Origin],
        template: str,
        text: Document | None = None,
        profile: str | None = None,
    ) -> None:
        last = layers.files[-1]
        shown = text or last
        repeated = tuple(place.path for place in text.repeated) if text is not None else ()
        super().__init__(shown.source, shown.index, tree, repeated)
        self.layers = layers
        self.origins = origins
        self.template = template
        self.profile = profile
        self.rendered = text is not None

    @property
    def weight(self) -> int:
        """Length of the values that it comes of, and of itself where a chart was rendered."""
        return sum(len(document.source.text) for document in (*self.layers.files, self))

    @property
    def node(self) -> Node | None:
        """The rendered text with its marks."""
        return super().node if self.rendered else None

    def origin(self, place: Place) -> Origin | None:
        """The value that a place of this object comes from."""
        for length in range(len(place.path), -1, -1):
            origin = self.origins.get(place.path[:length])
            if origin is None:
                continue
            rest = place.path[length:]
            if origin.exact:
                return Origin(origin.path + rest, exact=True, on_key=origin.on_key or place.on_key)
            return Origin(origin.path) if rest else origin
        return None

    def locate(self, place: Place) -> Position:
        """Where the value behind the place is written."""
        origin = self.origin(place)
        if origin is None:
            return super().locate(place)
        found = self.layers.place(origin, place.line)
        return found.document.locate(found)

    def explain(self, place: Place) -> tuple[tuple[Position, str], ...]:
        """Where the chart's default is when no file says the value, and what was rendered of it."""
        origin = self.origin(place)
        default = self.layers.default(origin) if origin is not None and origin.path else None
        notes = [(default.document.locate(default), "the chart's default")] if default is not None else []
        if origin is not None and self.rendered:
            notes.append((super().locate(place), f"rendered from {self.template}"))
        return tuple(notes)

    def written(self, place: Place) -> Place | None:
        """The place in a values file of which this one is a copy."""
        origin = self.origin(place)
        if origin is None or not origin.exact:
            return None
        found = self.layers.place(origin, place.line)
        return found if _holds(found.document.tree, found.path) else None

    def translate(self, edit: Edit) -> Edit | None:
        """The edit of the value that is copied to the place; of a value that only the defaults say, a new field."""
        from validator.rule import Add, Append, Remove, Rename, SetValue

        origin = self.origin(edit.at)
        if origin is None:
            return None
        if origin.named and isinstance(edit, Append) and edit.value.keys() == {"name", "value"}:
            return Add(self.layers.place(origin)._replace(path=origin.path), edit.value["name"], edit.value["value"])
        if not (origin.exact or (origin.whole and isinstance(edit, Remove))):
            return None
        at = self.layers.place(origin, edit.at.line)
        if isinstance(edit, SetValue) and at.on_key:
            # The field holds the text of a key, such as a variable's name.
            return Rename(at._replace(on_key=False), str(edit.value)) if _holds(at.document.tree, at.path) else None
        if _holds(at.document.tree, at.path):
            return edit._replace(at=at)
        if isinstance(edit, SetValue) and isinstance(origin.path[-1], str):
            return Add(Place(at.document, at.path[:-1]), origin.path[-1], edit.value)
        return edit._replace(at=at) if isinstance(edit, Add) else None
