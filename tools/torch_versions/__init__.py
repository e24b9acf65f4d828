"""Checkpoints that one version of PyTorch writes and another one reads."""
