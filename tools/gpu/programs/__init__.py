"""Programs that a check starts on each rank."""
