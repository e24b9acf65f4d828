"""Devices, CPUs and memory that pods request, and that the files offer."""
