"""Tests of linting."""
