"""Conditions between the fields of an object that an API server, a CRD or a webhook checks, as tables."""
