"""FB: settings and devices that the fabric of a cloud or a site requires, with `--profile`."""
