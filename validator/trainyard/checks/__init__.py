"""Checks of a platform team: expressions of the configuration that become rules."""
