"""The road of a site: values of charts/training-platform to what it offers, and to what its runs are installed with."""
