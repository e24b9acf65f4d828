"""NC: NCCL's environment variables."""
