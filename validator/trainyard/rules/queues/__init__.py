"""QU: queues of Kueue and Volcano: quotas, flavors and the configuration of Kueue."""
