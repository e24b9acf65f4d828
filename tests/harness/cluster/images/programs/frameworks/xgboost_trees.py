"""Every pod of an XGBoostJob trains on its share of the rows, and all of them get the same trees."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import time
from typing import Any

import numpy as np
import xgboost
from xgboost.collective import CommunicatorContext
from xgboost.tracker import RabitTracker

ROWS, COLUMNS, ROUNDS = 400, 4, 5
RESOLVE_SECONDS = 120

rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
port = int(os.environ["MASTER_PORT"])


def address(name: str) -> str:
    """Wait for a pod's name, which the cluster's DNS knows once the pod runs."""
    until = time.monotonic() + RESOLVE_SECONDS
    while True:
        try:
            return socket.gethostbyname(name)
        except socket.gaierror:
            if time.monotonic() > until:
                raise
            time.sleep(1)


def train() -> Any:
    """Train on this pod's rows, together with the others where a communicator joins them."""
    numbers = np.random.default_rng(0).random((ROWS, COLUMNS))
    target = numbers @ np.arange(1, COLUMNS + 1)
    rows = xgboost.DMatrix(numbers[rank::size], target[rank::size])
    return xgboost.train({"max_depth": 3, "nthread": 1, "tree_method": "hist"}, rows, ROUNDS)


def fingerprint(booster: Any) -> str:
    """Name the booster's trees by their text."""
    return hashlib.sha256("".join(booster.get_dump()).encode()).hexdigest()[:12]


alone = fingerprint(train())
tracker = RabitTracker(size, socket.gethostbyname(socket.gethostname()), port, sortby="task") if rank == 0 else None
if tracker is not None:
    tracker.start()
with CommunicatorContext(
    dmlc_communicator="rabit",
    dmlc_tracker_uri=address(os.environ["MASTER_ADDR"]),
    dmlc_tracker_port=port,
    dmlc_task_id=str(rank),
    dmlc_retry=30,
):
    together = train()
    result = {"rank": xgboost.collective.get_rank(), "size": xgboost.collective.get_world_size()}
    print("result", json.dumps({**result, "trees": fingerprint(together), "alone": alone}))
if tracker is not None:
    tracker.wait_for()
