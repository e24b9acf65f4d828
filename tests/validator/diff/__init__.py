"""Differences between two runs: cases with their verdicts, and the command."""
