"""Programs that run in pods of a test."""
