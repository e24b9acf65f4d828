"""The controller: puts nodes into quarantine by their condition, and releases them."""
