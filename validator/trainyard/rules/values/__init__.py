"""HV: chart values, environment variables and suppressions."""
