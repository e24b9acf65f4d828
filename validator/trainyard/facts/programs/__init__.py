"""Launchers, frameworks and libraries: their options, variables and configuration."""
