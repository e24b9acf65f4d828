"""Exactly one controller of a cluster acts: the one that holds the Lease, whose name is the same for all releases."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from typing import Any

from kubernetes.client import ApiException
from kubernetes.leaderelection import electionconfig
from kubernetes.leaderelection.leaderelection import LeaderElection
from kubernetes.leaderelection.resourcelock.leaselock import LeaseLock
from urllib3.exceptions import HTTPError

from nodehealth import metrics
from nodehealth.api import Api, ApiError
from nodehealth.config import Controller

# As in client-go. The holder stops before another one may start.
LEASE_SECONDS, RENEW_SECONDS, RETRY_SECONDS = 15, 10, 2


class Lock(LeaseLock):  # type: ignore[misc]
    """The Lease, with the time at which it was renewed. An API server that does not answer is a failed attempt."""

    renewed = float("inf")

    def get(self, name: str, namespace: str) -> tuple[bool, Any]:
        """Returns true and the record of the Lease, or false and the error."""
        try:
            return super().get(name, namespace)  # type: ignore[no-any-return]
        except (HTTPError, OSError) as error:
            return False, ApiException(status=0, reason=str(error))

    def create(self, name: str, namespace: str, election_record: Any) -> bool:
        """Creates the Lease."""
        return self._noted(super().create, name, namespace, election_record)

    def update(self, name: str, namespace: str, updated_record: Any) -> bool:
        """Takes or renews the Lease."""
        return self._noted(super().update, name, namespace, updated_record)

    def _noted(self, change: Callable[..., bool], *arguments: Any) -> bool:
        began = time.monotonic()
        try:
            done = change(*arguments)
        except (HTTPError, OSError):
            return False
        if done:
            self.renewed = began
        return done


def lead(settings: Controller, api: Api, identity: str, work: Callable[[], None]) -> None:
    """Waits for the Lease, then works until it is lost, which ends the process."""
    logging.getLogger("leaderelection").setLevel(logging.WARNING)
    metrics.LEADER.set(0)
    _tell_holder(settings, api, identity)
    lock = Lock(settings.lease, settings.lease_namespace, identity)

    def started() -> None:
        metrics.LEADER.set(1)
        print(f"{identity} holds the Lease {settings.lease_namespace}/{settings.lease} and acts", flush=True)
        work()

    threading.Thread(target=_watch, args=(lock,), daemon=True).start()
    LeaderElection(
        electionconfig.Config(
            lock,
            lease_duration=LEASE_SECONDS,
            renew_deadline=RENEW_SECONDS,
            retry_period=RETRY_SECONDS,
            onstarted_leading=started,
            onstopped_leading=_end,
        )
    ).run()


def _watch(lock: Lock) -> None:
    # A request may hang for longer than the Lease lasts.
    while time.monotonic() - lock.renewed < RENEW_SECONDS + RETRY_SECONDS:
        time.sleep(1)
    _end()


def _end() -> None:
    print("the Lease is lost: this controller ends, and starts again on standby", flush=True)
    # The work runs in a thread that nothing can interrupt, and must not change one more node.
    os._exit(1)


def _tell_holder(settings: Controller, api: Api, identity: str) -> None:
    path = f"/apis/coordination.k8s.io/v1/namespaces/{settings.lease_namespace}/leases/{settings.lease}"
    try:
        holder = (api.request("GET", path).get("spec") or {}).get("holderIdentity")
    except ApiError:
        return
    if holder and holder != identity:
        lease = f"{settings.lease_namespace}/{settings.lease}"
        print(f"{holder} holds the Lease {lease}: {identity} is on standby", flush=True)
