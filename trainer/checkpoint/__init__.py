"""Checkpoints: written by all ranks, published atomically, verified before use."""
