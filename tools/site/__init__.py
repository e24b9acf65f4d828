"""The parts of the documentation site that are made from files of the repository."""
