"""Ports of Services that operators create, which no file shows.

Source: NVIDIA/gpu-operator assets/state-dcgm-exporter/0600_service.yaml, the same in all releases that were read.
"""

from __future__ import annotations

# The names of the ports, by a label of the Service.
PORTS: dict[tuple[str, str], frozenset[str]] = {("app", "nvidia-dcgm-exporter"): frozenset(("gpu-metrics",))}
