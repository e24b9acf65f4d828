"""Tests of the loaders."""
