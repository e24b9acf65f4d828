"""What the harness promises without a cluster."""
