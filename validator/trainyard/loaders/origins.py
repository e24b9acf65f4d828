"""Rendered objects that know the value of each of their fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from trainyard.document.document import Add, Append, Document, Edit, Place, Remove, Rename, SetValue
from trainyard.document.source import Path, Position

if TYPE_CHECKING:
    # Every linter run imports this module, and few render a chart.
    from yaml import Node

    from gotemplate.origin import Origin


class Layers:
    """The values files of a release, of which the last wins, over the defaults of its chart."""

    __slots__ = ("defaults", "files")

    def __init__(self, defaults: Document, files: Sequence[Document]) -> None:
        self.defaults = defaults
        self.files = tuple(files)

    def place(self, origin: Origin, line: int = 0) -> Place:
        """Returns the place of a value in the last file that sets it, or of its nearest ancestor that a file has."""
        for length in range(len(origin.path), 0, -1):
            for document in reversed(self.files):
                if _holds(document.tree, origin.path[:length]):
                    complete = length == len(origin.path)
                    return Place(document, origin.path, line if complete else 0, origin.on_key)
        return Place(self.files[-1], origin.path, 0, origin.on_key)

    def set_by_user(self, path: Path) -> Place | None:
        """Returns the place of a value in the last file that sets it, if one does."""
        return next((Place(document, path) for document in reversed(self.files) if _holds(document.tree, path)), None)

    def lacks(self, origin: Origin) -> bool:
        """True if neither the files nor the defaults of the chart set a value."""
        return not any(_holds(document.tree, origin.path) for document in (*self.files, self.defaults))

    def default(self, origin: Origin) -> Place | None:
        """Returns the place of a value in the chart's defaults if no file sets it."""
        if any(_holds(document.tree, origin.path) for document in self.files):
            return None
        return Place(self.defaults, origin.path) if _holds(self.defaults.tree, origin.path) else None


def value_at(tree: Any, path: Path, default: Any = None) -> Any:
    """Returns the value at a path of a tree, or the default if there is none."""
    for step in path:
        known = range(len(tree)) if isinstance(tree, list) else tree if isinstance(tree, dict) else ()
        if step not in known:
            return default
        tree = tree[step]
    return tree


def _holds(tree: Any, path: Path) -> bool:
    nothing = object()
    return value_at(tree, path, nothing) is not nothing


class RenderedDocument(Document):
    """An object that a chart renders. Its places are those of the values, or else those in the rendered text.

    `template` is the file that renders it; `text` is the rendered text, None if the values loader made the object.
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
        """The length of the values that it comes from, and of its own text if a chart was rendered."""
        return sum(len(document.source.text) for document in (*self.layers.files, self))

    @property
    def node(self) -> Node | None:
        """The rendered text with its marks."""
        return super().node if self.rendered else None

    @property
    def release_and_chart(self) -> tuple[str, str] | None:
        """The names of the release and of the chart whose template renders the object; None if they are not known."""
        return None

    @property
    def assumed_namespace(self) -> str:
        """The namespace of a release that nobody named; empty if somebody did."""
        return ""

    @property
    def has_defaults_only(self) -> bool:
        """True if no values are given: a user of the chart sets what its defaults leave empty."""
        return self.layers.files[-1] is self.layers.defaults

    @property
    def values_files(self) -> tuple[Document, ...]:
        """The values files of the release."""
        return self.layers.files

    def value_place(self, path: Path) -> Place | None:
        """Returns the place of a value in the values files."""
        from gotemplate.origin import Origin

        return self.layers.place(Origin(path))

    def origin(self, place: Place) -> Origin | None:
        """Returns the origin of a place of this object."""
        from gotemplate.origin import Origin

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
        """Returns the position of the value behind the place."""
        origin = self.origin(place)
        if origin is None:
            return super().locate(place)
        found = self.layers.place(origin, place.line)
        return found.document.locate(found)

    def locate_inside(self, host: Place, place: Place) -> Position:
        """Returns the position of the value that the chart has written into a text, or of the text's own value."""
        origin = self.origin(host)
        path = origin.path if origin is not None else ()
        for length in range(len(path), 0, -1):
            found = self.layers.set_by_user((*path[:length], *place.path))
            if found is not None:
                return found.document.locate(found._replace(on_key=place.on_key))
        return self.locate(host)

    def explain(self, place: Place) -> tuple[tuple[Position, str], ...]:
        """Returns the position of the chart's default if no file sets the value, and of the rendered text."""
        origin = self.origin(place)
        default = self.layers.default(origin) if origin is not None and origin.path else None
        notes = [(default.document.locate(default), "the chart's default")] if default is not None else []
        if origin is not None and self.rendered:
            notes.append((super().locate(place), f"rendered from {self.template}"))
        return tuple(notes)

    def written(self, place: Place) -> Place | None:
        """Returns the place in a values file of which this one is a copy."""
        origin = self.origin(place)
        if origin is None or not origin.exact:
            return None
        found = self.layers.place(origin, place.line)
        return found if _holds(found.document.tree, found.path) else None

    def translate(self, edit: Edit) -> Edit | None:
        """Returns the edit of the value that is copied to the place; for a default value, a new field."""
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
