"""A way in which a cluster does not fulfil its site."""

from __future__ import annotations

from typing import NamedTuple

from trainyard.document.document import Place


class Problem(NamedTuple):
    """A fault of an object, what to do, and the place in the site's values that requires it."""

    subject: str
    message: str
    remedy: str
    place: Place | None = None
