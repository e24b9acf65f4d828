"""Checkpoints: written by all ranks, published whole or not at all, verified before use."""
