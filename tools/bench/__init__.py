"""Benchmarks of the validator and of the trainer."""
