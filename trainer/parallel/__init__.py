"""How the ranks train one model together: one strategy per file."""
