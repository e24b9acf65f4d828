"""Tests of support bundles."""
