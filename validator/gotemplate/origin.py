"""The origin of a rendered node: its place in the values."""

from __future__ import annotations

from typing import NamedTuple

# The path to a node of a tree: mapping keys and list indexes, from the root.
Path = tuple[str | int, ...]


class Origin(NamedTuple):
    """The value behind a node of an object.

    `exact`: the node is a copy of the value, with everything below it. `whole`: the node exists because of this value
    alone and disappears with it. `named`: the node is a list of entries `{name, value}` that the values hold as a
    mapping.
    """

    path: Path
    exact: bool = False
    on_key: bool = False
    whole: bool = False
    named: bool = False
