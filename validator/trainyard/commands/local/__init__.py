"""Runs `charts/training-job` as processes of this machine: from values to processes, until they have ended."""
