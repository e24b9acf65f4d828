"""All causes, in the order of the documentation."""

from __future__ import annotations

import functools

from trainyard.commands.doctor.cause import Cause
from trainyard.commands.doctor.causes import (
    collectives,
    coordination,
    downloads,
    driver,
    gpu,
    kubernetes,
    memory,
    mpi,
    nccl,
    programs,
    ray,
    rdma,
    rendezvous,
    scheduling,
    storage,
    training,
)

FAMILIES = {
    "NCCL": nccl.CAUSES,
    "RDMA": rdma.CAUSES,
    "Collectives and gloo": collectives.CAUSES,
    "Rendezvous": rendezvous.CAUSES,
    "JAX and TensorFlow": coordination.CAUSES,
    "Memory": memory.CAUSES,
    "GPU hardware": gpu.CAUSES,
    "Driver and CUDA": driver.CAUSES,
    "Training": training.CAUSES,
    "Python programs": programs.CAUSES,
    "Downloads": downloads.CAUSES,
    "Files and volumes": storage.CAUSES,
    "MPI": mpi.CAUSES,
    "Ray": ray.CAUSES,
    "Scheduling and queues": scheduling.CAUSES,
    "Kubernetes": kubernetes.CAUSES,
}


@functools.cache
def causes() -> dict[str, Cause]:
    """Returns the causes by their names."""
    return {cause.name: cause for family in FAMILIES.values() for cause in family}
