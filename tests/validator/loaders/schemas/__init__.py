"""Tests of the check of objects against the schemas of their kinds."""
