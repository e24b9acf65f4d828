"""The state of a run in a cluster: what it waits for, how far it is, what its ranks print. Nothing is ever changed."""
