"""Random changes of real files, and what the linter does with them."""
