"""Tests of `trainyard report`."""
