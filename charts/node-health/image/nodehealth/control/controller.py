"""The loop of the controller: reads the nodes, decides, and acts."""

from __future__ import annotations

import time

from nodehealth import condition, metrics
from nodehealth.api import CONFLICT, NOT_FOUND, TOO_MANY, Api, ApiError, Tree
from nodehealth.clock import now, text
from nodehealth.config import Controller
from nodehealth.control import changes, decision
from nodehealth.control.decision import Action, Judgement
from nodehealth.control.node import Node, Record, node
from nodehealth.keys import IGNORED


class Loop:
    """Rounds of the controller. What it must remember is on the nodes, so that any replica can go on."""

    def __init__(self, settings: Controller, api: Api, name: str) -> None:
        """`name` is that of the release, which the records on nodes hold."""
        self._settings = settings
        self._api = api
        self._name = name
        # The last message of each node or pool: what lasts is told once.
        self._said: dict[str, str] = {}

    def run(self) -> None:
        """Runs rounds until the process ends."""
        while True:
            began = time.monotonic()
            try:
                self.round()
            except ApiError as error:
                metrics.API_ERRORS.inc()
                _say(f"this round is skipped: {error}")
            time.sleep(max(0.5, self._settings.interval_seconds - (time.monotonic() - began)))

    def round(self) -> list[Judgement]:
        """Runs one round. Raises `ApiError` if the nodes cannot be read."""
        moment = now()
        nodes = [node(tree, moment, self._settings.stale_seconds) for tree in self._api.nodes()]
        judged = decision.judge(self._settings, nodes, moment)
        for pool in judged:
            self._record(pool)
            for action in pool.actions:
                self._attempt(action)
        if self._settings.drain:
            for found in nodes:
                if found.record is not None and found.status == condition.UNHEALTHY and not found.ignored:
                    self._drain(found)
        return judged

    def _record(self, pool: Judgement) -> None:
        for state, count in pool.states.items():
            metrics.NODES.labels(pool.pool, state).set(count)
        metrics.LIMIT.labels(pool.pool).set(pool.limit)
        self._once(f"pool {pool.pool}", "; ".join(pool.warnings))

    def _attempt(self, action: Action) -> None:
        try:
            self._act(action)
        except ApiError as error:
            # The node has changed, or is gone: the next round sees it as it is.
            if error.status not in (CONFLICT, NOT_FOUND):
                metrics.API_ERRORS.inc()
                _say(f"{action.kind} of node {action.node.name} failed: {error}")

    def _act(self, action: Action) -> None:
        found, moment = action.node, now()
        if action.kind == decision.QUARANTINE:
            patch = changes.quarantined(found, self._name, moment, self._settings.window_seconds)
            self._api.patch_node(found.name, patch)
            metrics.QUARANTINES.labels(action.pool).inc()
            self._event(found, "Warning", "Quarantined", f"in quarantine: {action.message}")
        elif action.kind == decision.RELEASE:
            self._api.patch_node(found.name, changes.released(found))
            metrics.RELEASES.labels(action.pool).inc()
            self._said.pop(found.name, None)
            self._event(found, "Normal", "Released", f"released from quarantine: {action.message}")
        elif action.kind == decision.RESTORE and found.record is not None:
            self._restore(found, found.record, action)
        elif action.kind in decision.OF_OUTAGES:
            self._act_on_outage(action)
        # A fault that lasts has been told when it began.
        elif not (action.kind == decision.HOLD and found.status != condition.HEALTHY) and self._once(
            found.name, action.message
        ):
            reason = "QuarantineLimit" if action.kind == decision.WAIT else "QuarantineHeld"
            self._event(found, "Warning", reason, action.message)

    def _act_on_outage(self, action: Action) -> None:
        found = action.node
        if action.kind == decision.OUT:
            self._api.patch_node(found.name, changes.out_of_service(found, action.message, self._name, now()))
            metrics.OUTAGES.labels(action.pool).inc()
            self._event(found, "Warning", "OutOfService", f"its pods are replaced on other nodes: {action.message}")
        elif action.kind == decision.RETURN:
            self._api.patch_node(found.name, changes.returned(found))
            metrics.RETURNS.labels(action.pool).inc()
            self._event(found, "Normal", "Returned", f"back in service: {action.message}")
        elif self._once(f"kubelet of {found.name}", action.message):
            reason = "NodeLost" if action.kind == decision.LOST else "OutOfServiceLimit"
            self._event(found, "Warning", reason, action.message)

    def _restore(self, found: Node, record: Record, action: Action) -> None:
        moment = now()
        again = decision.restorable(record, moment)
        self._api.patch_node(found.name, changes.restored(found, record, moment))
        message = f"{action.message}; they are set again. An annotation {IGNORED}=true keeps the node in service"
        if not again:
            message = (
                f"{action.message} {decision.RESTORES} times in an hour; the controller no longer sets them. Find who "
                "writes them (kubectl get node -o yaml --show-managed-fields), and stop one of the two"
            )
        self._event(found, "Warning", "QuarantineRestored" if again else "QuarantineContested", message)

    def _drain(self, found: Node) -> None:
        seen: set[str] = set()
        for selector in self._settings.pod_selectors:
            for pod in self._pods(found, selector):
                metadata = pod.get("metadata") or {}
                place = f"{metadata.get('namespace')}/{metadata.get('name')}"
                if place not in seen and _evictable(pod):
                    seen.add(place)
                    self._evict(found, str(metadata.get("namespace")), str(metadata.get("name")))

    def _pods(self, found: Node, selector: str) -> list[Tree]:
        try:
            return self._api.pods(found.name, selector)
        except ApiError as error:
            metrics.API_ERRORS.inc()
            _say(f"the pods of node {found.name} cannot be read: {error}")
            return []

    def _evict(self, found: Node, namespace: str, name: str) -> None:
        try:
            self._api.evict(namespace, name)
        except ApiError as error:
            if error.status == NOT_FOUND:
                return
            blocked = error.status == TOO_MANY
            metrics.EVICTIONS.labels("blocked" if blocked else "failed").inc()
            why = "a PodDisruptionBudget keeps it" if blocked else str(error)
            if self._once(f"{namespace}/{name}", why):
                self._event(found, "Warning", "EvictionFailed", f"pod {namespace}/{name} stays on the node: {why}")
        else:
            metrics.EVICTIONS.labels("evicted").inc()
            self._event(found, "Normal", "Evicted", f"pod {namespace}/{name} is evicted to save and go on elsewhere")

    def _event(self, found: Node, kind: str, reason: str, message: str) -> None:
        _say(f"node {found.name}: {reason}: {message}")
        self._api.event(found.name, kind, reason, message, text(now()))

    def _once(self, subject: str, message: str) -> bool:
        """Returns true if the message of a subject is new, and prints it."""
        if self._said.get(subject, "") == message:
            return False
        self._said[subject] = message
        if message:
            _say(message)
        return bool(message)


def _evictable(pod: Tree) -> bool:
    metadata = pod.get("metadata") or {}
    owners = [owner.get("kind") for owner in metadata.get("ownerReferences") or ()]
    ended = (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")
    return not ended and "deletionTimestamp" not in metadata and "DaemonSet" not in owners


def _say(message: str) -> None:
    print(message, flush=True)
