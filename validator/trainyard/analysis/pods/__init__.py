"""Containers and pods: environment, mounts, placement, and what the API server refuses."""
