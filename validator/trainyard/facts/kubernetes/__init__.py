"""The API of Kubernetes: quantities, labels, limits, and versions that it serves."""
