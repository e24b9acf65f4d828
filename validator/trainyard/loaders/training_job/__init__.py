"""The loader of `charts/training-job` values: the chart's files, its releases, and the effect of each value."""
