"""Tests of local runs."""
