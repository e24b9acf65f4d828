"""The cost of faults, for a run of our chart and for a stock PyTorchJob: `python -m tools.faults`."""
