"""Programs that start the processes of a run, read from the commands of its containers."""
