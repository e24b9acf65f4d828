"""The templates of `charts/training-job` said again in Python, so that its values are read without Helm."""
