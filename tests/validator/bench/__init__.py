"""How fast the validator is, beside other linters on the same files: `python -m tests.validator.bench`."""
