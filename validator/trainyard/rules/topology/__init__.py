"""TP: topology, gangs and queues."""
