"""Health of nodes: an agent on each node reports it, and one controller of the cluster acts on it."""
