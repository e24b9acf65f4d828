"""Tests of YAML documents."""
