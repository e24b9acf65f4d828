"""Tests of the checks of the configuration."""
