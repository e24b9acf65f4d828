"""What the values road knows of `charts/training-job`: its files, its releases, and which values have an effect."""
