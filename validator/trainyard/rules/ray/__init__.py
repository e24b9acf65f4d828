"""RY: clusters, jobs and services of Ray."""
