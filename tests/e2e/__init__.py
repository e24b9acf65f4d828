"""End-to-end tests: behaviour on a live cluster, as a user sees it."""
