"""RF: references between objects: names, keys, claims, services, quotas of a namespace, and addresses."""
