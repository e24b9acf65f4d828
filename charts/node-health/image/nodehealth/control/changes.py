"""Patches of nodes. Each names the version of the node that it was made from, so that no other change is lost."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from nodehealth.clock import text
from nodehealth.control.decision import restorable
from nodehealth.control.node import OFF_TAINT, TAINT, Node, Record
from nodehealth.keys import HISTORY, OUT_OF_SERVICE, OUTAGE, POWERED_OFF, QUARANTINED, RECORD

Patch = dict[str, Any]


def quarantined(node: Node, by: str, moment: datetime, window_seconds: float) -> Patch:
    """Returns the patch that puts a node into quarantine: label, taint and record at once."""
    record = Record(moment, node.reason, node.message, by)
    window = timedelta(seconds=window_seconds)
    history = [*(one for one in node.history if moment - one < window), moment]
    annotations = {RECORD: record.text(), HISTORY: json.dumps([text(one) for one in history])}
    return _patch(node, {QUARANTINED: "true"}, annotations, [*_others(node), TAINT])


def released(node: Node) -> Patch:
    """Returns the patch that removes what `quarantined` has added, and keeps the history."""
    return _patch(node, {QUARANTINED: None}, {RECORD: None}, _others(node))


def restored(node: Node, record: Record, moment: datetime) -> Patch:
    """Returns the patch that adds label and taint again, or that notes that somebody contests them."""
    if not restorable(record, moment):
        return _patch(node, {}, {RECORD: replace(record, contested=True).text()}, None)
    record = replace(record, restored=(*record.restored, moment))
    return _patch(node, {QUARANTINED: "true"}, {RECORD: record.text()}, [*_others(node), TAINT])


def out_of_service(node: Node, proof: str, by: str, moment: datetime) -> Patch:
    """Returns the patch that takes a node that is off out of service: taint and record at once."""
    record = json.dumps({"since": text(moment), "proof": proof, "by": by})
    return _patch(node, {}, {OUTAGE: record}, [*_others(node, OUT_OF_SERVICE), OFF_TAINT])


def returned(node: Node) -> Patch:
    """Returns the patch that removes what `out_of_service` has added, and the statement, which ends with the outage."""
    return _patch(node, {}, {OUTAGE: None, POWERED_OFF: None}, _others(node, OUT_OF_SERVICE))


def _others(node: Node, key: str = QUARANTINED) -> list[Any]:
    return [dict(taint) for taint in node.taints if taint.get("key") != key]


def _patch(node: Node, labels: dict[str, Any], annotations: dict[str, Any], taints: list[Any] | None) -> Patch:
    body: Patch = {"metadata": {"resourceVersion": node.version, "labels": labels, "annotations": annotations}}
    if taints is not None:
        body["spec"] = {"taints": taints or None}
    return body
