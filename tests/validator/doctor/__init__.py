"""Tests of `trainyard doctor`."""
