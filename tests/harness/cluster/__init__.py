"""Kubernetes clusters for trying charts and trainer: `python -m tests.harness --help`."""
