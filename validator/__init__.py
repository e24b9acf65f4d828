"""Finds what will go wrong in a distributed training run, from its values or manifests, before a GPU is spent."""

from __future__ import annotations

__version__ = "0.1.0"
