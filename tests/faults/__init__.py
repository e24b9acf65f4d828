"""What a fault of a cluster costs a run of ours, and what it costs a stock PyTorchJob: `python -m tests.faults`."""
