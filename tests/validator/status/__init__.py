"""Tests of `trainyard status`, `logs` and `top`."""
