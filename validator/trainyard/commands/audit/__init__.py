"""Reads the live objects of a cluster as texts that can be linted. Nothing in the cluster is ever changed."""
