"""Container images built from package registries alone; each module defines one or more."""
