"""The manifest loader: Kubernetes objects to the model."""
