"""Programs that generate files of the repository, and that measure or demonstrate its parts."""
