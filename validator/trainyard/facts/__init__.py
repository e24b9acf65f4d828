"""Facts about the world that rules share, each with its source."""
