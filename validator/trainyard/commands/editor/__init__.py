"""The language server: findings, pages of rules and fixes in an editor."""
