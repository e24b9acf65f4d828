"""Checks objects against the schemas of their kinds: fields, types, limits and API versions."""
