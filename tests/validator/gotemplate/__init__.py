"""Tests of the Go template engine."""
