"""The commands, except for those that lint: one package per command, or for a few that belong together."""
