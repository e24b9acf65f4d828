"""Every process of a JAXJob adds what all of them hold."""

from __future__ import annotations

import json
import os

import jax

address = f"{os.environ['COORDINATOR_ADDRESS']}:{os.environ['COORDINATOR_PORT']}"
jax.distributed.initialize(
    address,
    num_processes=int(os.environ["NUM_PROCESSES"]),
    process_id=int(os.environ["PROCESS_ID"]),
    cluster_detection_method="deactivate",
)
rank, size = jax.process_index(), jax.process_count()
held = jax.numpy.full(jax.local_device_count(), rank + 1.0)
total = jax.pmap(lambda value: jax.lax.psum(value, "all"), axis_name="all")(held)
print("result", json.dumps({"rank": rank, "size": size, "devices": jax.device_count(), "sum": float(total[0])}))
jax.distributed.shutdown()
