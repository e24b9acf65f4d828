"""FB: what the fabric of a cloud or a site needs, with `--profile`."""
