"""Differences between two runs by their meaning."""
