"""Questions that several rules ask about a run: its network, launcher and shared memory, or the place of a variable."""
