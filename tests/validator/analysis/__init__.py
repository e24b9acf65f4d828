"""Tests of what the rules ask about a run."""
