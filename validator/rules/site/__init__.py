"""SI: a run beside the site that it is to run on, with `--site`."""
