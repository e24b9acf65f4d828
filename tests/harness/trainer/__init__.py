"""The reference trainer as local processes."""
