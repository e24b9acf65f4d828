"""The compared starts: kinds of runs, by the limits of the control plane and by the settings of the operators."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tests.harness.jobs.helm import Settings
from tools.scale.control_plane import RAISED, STOCK, Limits
from tools.scale.workloads import JOB, PYTORCHJOB, TRAINJOB, Workload

# Sources: the flags of the operator (v1.9.4, cmd/training-operator.v1/main.go) and of the manifests of Trainer (v2.3.0,
# manifests/base/manager/controller_manager_config.yaml). The default of JobSet, 500, is that of our chart.
# An operator that loses an election ends, and no kubelet would start it again.
ALONE: Settings = {"leaderElection": False}
OPERATORS_OF_STOCK: tuple[Settings, Settings] = (
    {**ALONE, "controllerThreads": 1, "kubeApi.qps": 20, "kubeApi.burst": 30},
    {**ALONE, "controllerThreads": 5, "kubeApi.qps": 50, "kubeApi.burst": 100},
)
OPERATORS_OF_OURS: tuple[Settings, Settings] = (ALONE, ALONE)
# A PyTorchJob as the operator's examples write it: a Master, and no rule of placement.
RUN_OF_STOCK = (("layout", "master-worker"), ("placement.spread", "none"))
# What the README of charts/training-job says about large runs.
RUN_OF_OURS = (("layout", "worker-only"), ("placement.spread", "none"))
SIDES = {"stock": OPERATORS_OF_STOCK, "ours": OPERATORS_OF_OURS}


@dataclass(frozen=True)
class Scenario:
    """One start. `side` names the settings of the operators and of the run; a Job has none."""

    limits: Limits
    side: str
    workload: Workload
    note: str = ""

    @property
    def what(self) -> str:
        """The runs in words."""
        found = self.workload
        name = "Indexed Job" if found.kind == JOB else found.kind
        number = name if found.runs == 1 else f"{found.runs:,} {name}s"
        return f"{number} of {found.nodes:,} pods{self.note}"


def scenarios(nodes: int) -> Iterator[Scenario]:
    """Yield the starts in an order in which operators restart seldom."""
    for limits in (STOCK, RAISED):
        yield Scenario(limits, "", Workload(JOB, 1, nodes))
        for side in SIDES:
            run = RUN_OF_STOCK if side == "stock" else RUN_OF_OURS
            for kind in (PYTORCHJOB, TRAINJOB):
                # The layout is a PyTorchJob's.
                settings = tuple(pair for pair in run if kind == PYTORCHJOB or pair[0] != "layout")
                yield Scenario(limits, side, Workload(kind, 1, nodes, settings))
                if limits is RAISED:
                    yield Scenario(limits, side, Workload(kind, nodes // 5, 5, settings))
    required = (RUN_OF_OURS[0], ("placement.spread", "required"))
    yield Scenario(RAISED, "ours", Workload(PYTORCHJOB, 1, nodes, required), ", required anti-affinity")
