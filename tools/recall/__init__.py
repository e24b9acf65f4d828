"""The share of the mistakes from public issues that the linter finds."""
