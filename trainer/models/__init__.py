"""Models. They know nothing of ranks, data or checkpoints."""
