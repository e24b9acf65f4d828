"""The typed model of training runs and of the site that they run on."""
