"""Objects in the files, and the references between them."""
