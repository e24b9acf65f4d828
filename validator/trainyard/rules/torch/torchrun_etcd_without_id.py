"""The rendezvous is in etcd and has no ID, so all runs on this etcd meet in one rendezvous.

torchrun keeps the state of a rendezvous in etcd under its ID, which is `none` by default. Two jobs that train at the
same time then form one group of ranks. A job that starts after another one finds the closed rendezvous of that one,
and its workers end: "The rendezvous for run_id 'none' has already been closed". etcd keeps the state after the pods.

The rule applies to the backends `etcd` and `etcd-v2`. With `c10d`, each job has a store of its own.

Write an ID that is unique to the run: `rdzvId` in the `elasticPolicy`, or `--rdzv-id`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.rendezvous import backend, starts
from trainyard.document.lookup import text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Container


@rule(
    code="TD048",
    severity="warning",
    confidence="medium",
    since="0.4.0",
    sources=(
        "pytorch 2.15.0 torch/distributed/run.py: --rdzv-id, default none; elastic/rendezvous/etcd_rendezvous.py",
        "kubeflow/training-operator v1.9.3 pkg/controller.v1/pytorch/elastic.go: PET_RDZV_ID from rdzvId alone",
        "github.com/pytorch/pytorch issue 82160",
    ),
    needs=("etcd",),
)
def torchrun_etcd_without_id(container: Container, context: Context) -> Iterator[Problem]:
    """Report a rendezvous in etcd that all runs share."""
    run = context.run
    if run is None or container.setting("PET_RDZV_ID") is not None or text(run.elastic or {}, "rdzvId"):
        return
    for launch in starts(container, run):
        told = backend(launch, container, run)
        if told is not None and told[0] in ("etcd", "etcd-v2") and not launch.has("--rdzv-id"):
            policy = run.elastic is not None and not launch.has("--rdzv-backend")
            yield Problem(
                told[1],
                "the rendezvous in etcd has no ID: all runs on this etcd share the ID `none`, and a later run finds it "
                "closed",
                "write a unique `rdzvId`" if policy else "add a unique --rdzv-id",
            )
            return
