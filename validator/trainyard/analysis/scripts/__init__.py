"""The exit code of a shell script whose launcher fails."""
