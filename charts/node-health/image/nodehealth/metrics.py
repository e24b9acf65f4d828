"""Metrics of the agent and of the controller."""

from __future__ import annotations

import time
from collections.abc import Iterable

from prometheus_client import Counter, Gauge

from nodehealth.fault import Fault
from nodehealth.rounds import Round

FAULT = Gauge("node_health_fault", "Faults that an agent found, 1 for each", ["node", "check", "device", "reason"])
UNKNOWN = Gauge("node_health_check_unknown", "Checks that cannot tell, 1 for each", ["node", "check"])
SECONDS = Gauge("node_health_check_seconds", "Duration of a check in the last round", ["node", "check"])
ROUND = Gauge("node_health_round_timestamp_seconds", "Time of the last round of checks", ["node"])
API_ERRORS = Counter("node_health_api_errors_total", "Requests to the API server that failed")

NODES = Gauge("node_health_nodes", "Nodes of a pool by state", ["pool", "state"])
LIMIT = Gauge("node_health_quarantine_limit", "Nodes of a pool that may be in quarantine", ["pool"])
QUARANTINES = Counter("node_health_quarantines_total", "Nodes that were put into quarantine", ["pool"])
RELEASES = Counter("node_health_releases_total", "Nodes that were released from quarantine", ["pool"])
OUTAGES = Counter("node_health_outages_total", "Nodes that were off and taken out of service", ["pool"])
RETURNS = Counter("node_health_returns_total", "Nodes that returned to service after an outage", ["pool"])
EVICTIONS = Counter("node_health_evictions_total", "Evictions of pods from nodes in quarantine", ["result"])
LEADER = Gauge("node_health_controller_leader", "1 in the controller that acts, 0 in one on standby")


def record_round(node: str, faults: Iterable[Fault], found: Round) -> None:
    """Sets the metrics of an agent after a round."""
    FAULT.clear()
    for fault in faults:
        FAULT.labels(node, fault.check, fault.device, fault.reason).set(1)
    UNKNOWN.clear()
    for name in found.unknown:
        UNKNOWN.labels(node, name).set(1)
    for name, seconds in found.seconds.items():
        SECONDS.labels(node, name).set(seconds)
    ROUND.labels(node).set(time.time())
