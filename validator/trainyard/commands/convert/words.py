"""Words of a command as values take them: the chart passes them on as written, and expands nothing."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Any

from trainyard.commands.convert.roles import Part
from trainyard.commands.convert.tables import ELASTIC, OWNED
from trainyard.document.lookup import items, text

_REFERENCE = re.compile(r"\$\$|\$\(([^()]*)\)")


def known_names(part: Part, kind: str) -> set[str]:
    """Returns the variables that Kubernetes expands in the words of a part's container."""
    own = {text(entry, "name") for entry in items(part.container, "env")}
    return own | set(OWNED.get(kind, ())) | set(ELASTIC)


def literal(word: Any, names: Collection[str]) -> str | None:
    """Returns the text that Kubernetes makes of a word, None if it puts a variable into it.

    Source: kubernetes v1.34.4 third_party/forked/golang/expansion/expand.go.
    """
    written = str(word)
    if any(found[1] in names for found in _REFERENCE.finditer(written) if found[1] is not None):
        return None
    return written.replace("$$", "$")


def literals(words: Iterable[Any], names: Collection[str]) -> list[str] | None:
    """Returns the texts of words, None if one of them refers to a variable."""
    result = []
    for word in words:
        found = literal(word, names)
        if found is None:
            return None
        result.append(found)
    return result
