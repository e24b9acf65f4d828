"""Support bundles: what a cluster says about a run, in one file, without secrets. Nothing in the cluster is changed."""
