"""Conversions of jobs into values, and the judge of their meaning."""
