"""Hypothesis profile: the same examples in every run, and no deadline that a busy machine could miss."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("trainyard", deadline=None, derandomize=True)
settings.load_profile("trainyard")
