"""A run of `charts/training-job` as processes of this machine: from values to what is started, until it has ended."""
