"""The process and its peers: launch variables, process group, transport, signals, log."""
