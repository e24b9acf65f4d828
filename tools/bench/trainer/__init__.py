"""The trainer's speed compared to the best possible."""
