"""How a chart can fail to come to the model."""

from __future__ import annotations


class RenderingError(Exception):
    """A chart that cannot be rendered; `args[0]` says why and what to do."""
