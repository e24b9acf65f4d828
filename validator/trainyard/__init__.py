"""Finds mistakes in distributed training runs, in their values or manifests, before they cost GPU time."""

from __future__ import annotations

__version__ = "0.1.0"
# Name on the package index: `trainyard` there is another project.
DISTRIBUTION = "trainyard-cli"
