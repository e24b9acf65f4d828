"""Programs that tests run in pods."""
