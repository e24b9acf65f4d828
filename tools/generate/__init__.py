"""Everything in the repository that is generated, and the check that it is up to date."""
