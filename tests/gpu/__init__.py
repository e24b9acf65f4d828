"""Tests of the acceptance of a machine with GPUs, without GPUs."""
