"""The engine: rules, their registry and selection, and the findings that they produce."""
