"""The plan of a run: its estimates, and what it reads."""

from __future__ import annotations
