"""Networks, interfaces and addresses of pods."""
