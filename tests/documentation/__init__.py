"""Tests of the examples in the documentation."""
