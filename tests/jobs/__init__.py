"""Training runs on a live cluster as a user makes them: install a release, follow it, read what it left."""
