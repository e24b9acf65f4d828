"""The style guide of CONTRIBUTING.md as a check: Vale on Markdown, help texts and comments of values."""
