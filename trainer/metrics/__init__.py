"""The metrics of a run and the sinks that report them."""

from __future__ import annotations

from .sinks import SinkGroup, build_sinks

__all__ = ["SinkGroup", "build_sinks"]
