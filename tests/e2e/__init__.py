"""Behaviour on a live cluster, as a user meets it."""
