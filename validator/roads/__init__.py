"""The ways from files to the model."""
