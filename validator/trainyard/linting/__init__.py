"""Lints files: from names on the command line to a report of findings."""
