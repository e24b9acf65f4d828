"""The acceptance of a machine with GPUs: `python -m tools.gpu`, or `make gpu`."""
