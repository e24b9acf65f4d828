"""HV: values, environment entries and suppressions."""
