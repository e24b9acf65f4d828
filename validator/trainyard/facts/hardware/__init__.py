"""Accelerators, adapters and the plugins that offer them."""
