"""Recall from the field: mistakes that users of public projects reported, and the share that the linter finds."""
