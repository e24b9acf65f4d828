"""Training runs on a live cluster, as a user starts them: install a release, follow it, read its results."""
