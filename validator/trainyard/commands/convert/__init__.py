"""Conversion of jobs into values of `charts/training-job`."""
