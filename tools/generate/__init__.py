"""Everything in the repository that is generated, and the check that it still is what its sources give."""
