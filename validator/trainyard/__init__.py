"""Finds mistakes in distributed training runs, in their values or manifests, before they cost GPU time."""

from __future__ import annotations

__version__ = "0.3.0"
# Name on the package index: `trainyard` there is another project.
DISTRIBUTION = "trainyard-cli"
# Base of the links to the pages of rules, for a site that `make docs` has built. The site is not published yet: the
# domain is reserved, and TRAINYARD_DOCS_URL names the address of your own copy.
DOCUMENTATION = "https://trainyard.example/"
