"""Rules as ValidatingAdmissionPolicies: what can be said of one object alone, in the language of an API server."""
