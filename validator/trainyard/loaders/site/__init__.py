"""The site loader: values of charts/training-platform to what the site offers, and to the values of its runs."""
