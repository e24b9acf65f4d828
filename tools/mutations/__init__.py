"""Mutation tests: one-line changes of the code, each of which a test should find."""
