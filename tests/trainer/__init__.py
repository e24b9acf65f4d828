"""The trainer as its users meet it: real processes, real collectives on gloo, real files."""
