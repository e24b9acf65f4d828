"""The speed of the validator compared to other linters on the same files: `python -m tools.bench.validator`."""
