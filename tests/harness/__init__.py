"""The test harness: kind clusters, and real training jobs that run on them."""
