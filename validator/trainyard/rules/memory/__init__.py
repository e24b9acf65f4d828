"""SH: shared memory and memory limits."""
