"""Estimates for a run before it starts: its size, memory, traffic, time, failures and cost."""
