"""What is live in a cluster as texts that can be linted. Nothing in the cluster is ever changed."""
