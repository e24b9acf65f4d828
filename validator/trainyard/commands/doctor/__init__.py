"""Finds the causes of a failed run in its logs: `trainyard doctor`."""
