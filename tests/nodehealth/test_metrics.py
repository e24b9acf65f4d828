"""The metrics of both programs."""

from __future__ import annotations

from pathlib import Path

from prometheus_client import REGISTRY

from nodehealth import metrics
from nodehealth.fault import Fault
from nodehealth.rounds import Round

LIST = Path(__file__).parents[2] / "schemas/documented/metrics/node-health.txt"


def test_the_list_of_metrics_is_what_is_served() -> None:
    documented = [line for line in LIST.read_text().splitlines() if not line.startswith("#")]
    served = [
        f"{metric.name}_total" if metric.type == "counter" else metric.name
        for metric in REGISTRY.collect()
        if metric.name.startswith("node_health_")
    ]

    assert sorted(served) == sorted(documented)


def test_a_fault_that_ended_has_no_metric() -> None:
    labels = {"node": "a", "check": "disks", "device": "scratch", "reason": "DiskFull"}

    metrics.record_round("a", [Fault("disks", "scratch", "DiskFull", "full")], Round([], {}, {"disks": 0.1}))
    assert REGISTRY.get_sample_value("node_health_fault", labels) == 1
    metrics.record_round("a", [], Round([], {}, {}))

    assert REGISTRY.get_sample_value("node_health_fault", labels) is None
