"""YAML and JSON documents with the position of every value."""
