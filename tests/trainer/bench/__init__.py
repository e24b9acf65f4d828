"""The trainer measured beside what it could be at best."""
