"""Tests of the validator."""
