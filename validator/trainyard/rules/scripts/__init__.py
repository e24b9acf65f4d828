"""SC: launch scripts, arguments and references in them."""
