"""The process and its surroundings: launch, process group, signals, supervision and logging."""
