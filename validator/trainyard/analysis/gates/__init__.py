"""Feature gates that the files set, wherever they are written."""
