"""A run as one HTML file: its state, curves, restarts, diagnosis, findings, plan, preflight, events and values."""
