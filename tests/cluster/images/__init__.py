"""Container images made from package registries alone: what each holds is read off its module."""
