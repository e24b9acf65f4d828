"""What several rules ask of a run: its network, its launcher, its shared memory, where a variable is written."""
