"""Kinds of jobs, and the requirements of their operators."""
