"""The way of a stranger, who has the files of a release and not this repository."""
