"""What is trained on, and in which order."""
