"""Checkpoints: published whole or not at all, verified before use."""
