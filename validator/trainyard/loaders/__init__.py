"""Loaders: from files to the model."""
