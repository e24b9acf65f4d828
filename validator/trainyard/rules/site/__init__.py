"""SI: a run against the site that it will run on, with `--site`."""
