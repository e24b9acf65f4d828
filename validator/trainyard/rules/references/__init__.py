"""RF: references between objects: names, keys, claims, services and quotas."""
