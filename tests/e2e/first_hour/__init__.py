"""The first hour of a new user, step by step: what is typed, and what is read."""
