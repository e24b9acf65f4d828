"""Kueue's admission of many queued runs, and the racks of a run that Kueue places by its topology."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.harness.cluster import api
from tests.harness.jobs import kueue, platform
from tools.scale import measuring, nodes, operators, workloads
from tools.scale.control_plane import ControlPlane
from tools.scale.measuring import Usage
from tools.scale.operators import Object, Release
from tools.scale.workloads import NAMESPACE, PYTORCHJOB, TRAINJOB, Workload

# Names of Kueue's own chart, and the port of its probes, which the chart does not list.
WEBHOOK, PROBES = "kueue-webhook-service", 8081
QUEUE, TEAM, FLAVOR = "training", "team", "gpus"
RUNS = 500
SECONDS = 300
KINDS = (PYTORCHJOB, TRAINJOB)
# Kueue reconciles one job of a kind at a time, unless the kind is listed.
WORKERS = {"PyTorchJob.kubeflow.org": 10, "TrainJob.trainer.kubeflow.org": 10}
QUEUED = (("scheduling.queue.name", QUEUE), ("scheduling.queue.check", False), ("placement.spread", "none"))
WORKLOADS = "workloads.kueue.x-k8s.io"


@dataclass(frozen=True)
class Admission:
    """Seconds until all queued runs had a Workload, until all were admitted, and until all of their pods were Running.

    The first is counted from their creation, the others from the moment when the queue started to admit. `workers` is
    the number of jobs of one kind that Kueue reconciles at once.
    """

    workload: Workload
    workers: int
    queued: float
    admitted: float
    running: float
    used: dict[str, Usage]


def install(plane: ControlPlane, count: int) -> None:
    """Install Kueue with its own settings, and the queue of the platform's chart with quota for all nodes."""
    _install_kueue(plane, {})
    quota = {"flavor": FLAVOR, "resources": {"cpu": 96 * count, "memory": f"{count}Ti", "nvidia.com/gpu": 8 * count}}
    values: dict[str, Any] = {
        "operator.enabled": False,
        "queues.enabled": True,
        "queues.name": QUEUE,
        "queues.topologyLevels": [nodes.BLOCK, nodes.RACK, "kubernetes.io/hostname"],
        "queues.flavors": [{"name": FLAVOR, "nodeLabels": {"kubernetes.io/os": "linux"}}],
        "queues.clusterQueues": [{"name": TEAM, "namespaces": [NAMESPACE], "quotas": [quota]}],
    }
    found = operators.render(plane, Release("platform", platform.CHART, NAMESPACE), values)
    api.apply(plane.kubeconfig, *(one for one in found if one["apiVersion"].startswith("kueue.x-k8s.io/")))


def admissions(plane: ControlPlane, count: int, report: Callable[[str], None]) -> Iterator[Admission]:
    """Queue many runs of one node while the queue is on hold, then let it admit them.

    Kueue first has the settings of `install`, then `WORKERS`.
    """
    for workers in ({}, WORKERS):
        if workers:
            _install_kueue(plane, workers)
        for kind in KINDS:
            layout = (("layout", "worker-only"),) if kind == PYTORCHJOB else ()
            load = Workload(kind, min(RUNS, count // 2), 1, (*layout, *QUEUED))
            with workloads.removed(plane, load):
                yield _admission(plane, load, max(workers.values(), default=1), report)


def _install_kueue(plane: ControlPlane, workers: dict[str, int]) -> None:
    release = Release(kueue.TOOL, str(kueue.chart()), kueue.NAMESPACE, webhook=WEBHOOK)
    operators.install(plane, release, _settings(workers), _adapted)


def _admission(plane: ControlPlane, load: Workload, workers: int, report: Callable[[str], None]) -> Admission:
    found = list(workloads.rendered(plane, load))
    _hold(plane, "Hold")
    begin = time.monotonic()
    # Kueue's webhook refuses a TrainJob whose runtime it has not seen yet.
    if runtimes := [one for one in found if one["kind"] != load.kind]:
        plane.create(runtimes)
    plane.create([one for one in found if one["kind"] == load.kind])
    api.wait_until(lambda: len(_workloads(plane)) >= load.runs, what="all runs to be queued", seconds=SECONDS)
    queued = time.monotonic() - begin
    report(f"{load.runs} {load.kind}s are queued after {queued:.1f} s")
    before, begin = measuring.usage(plane), time.monotonic()
    _hold(plane, "None")
    api.wait_until(lambda: sum(_workloads(plane)) >= load.runs, what="all runs to be admitted", seconds=SECONDS)
    admitted = time.monotonic() - begin
    api.wait_until(lambda: workloads.running(plane) >= load.pods, what="all pods to be Running", seconds=SECONDS)
    used = measuring.between(before, measuring.usage(plane))
    return Admission(load, workers, queued, admitted, time.monotonic() - begin, used)


def _hold(plane: ControlPlane, policy: str) -> None:
    patch = json.dumps({"spec": {"stopPolicy": policy}})
    plane.kubectl("patch", "clusterqueue", TEAM, "--type=merge", f"--patch={patch}")


def _workloads(plane: ControlPlane) -> list[bool]:
    """Return for each Workload whether it is admitted."""
    plane.processes.check()
    path = '{range .items[*]}{.metadata.name}={.status.conditions[?(@.type=="Admitted")].status}{"\\n"}{end}'
    lines = plane.kubectl("get", WORKLOADS, f"--namespace={NAMESPACE}", f"--output=jsonpath={path}").split()
    return [line.endswith("=True") for line in lines]


def _settings(workers: dict[str, int]) -> dict[str, Any]:
    configuration = kueue.configuration()
    configuration["controller"]["groupKindConcurrency"] |= workers
    configuration["leaderElection"] = {"leaderElect": False}
    return {
        kueue.CONFIGURATION: json.dumps(configuration),
        # Its server would write into the root folder of this machine.
        "controllerManager.featureGates": [{"name": "VisibilityOnDemand", "enabled": False}],
    }


def _adapted(found: Object) -> Object | None:
    """Return an object of Kueue's chart with the names of ours; None for one that needs a pod."""
    if found["kind"] == "APIService":
        return None
    if found["kind"] == "Deployment":
        container = found["spec"]["template"]["spec"]["containers"][0]
        container["name"] = kueue.TOOL
        for port in container["ports"]:
            port["name"] = port["name"].removesuffix("-server")
        container["ports"].append({"containerPort": PROBES, "name": "probes"})
    return found
