"""The resources of the kinds that policies judge, and the operations at which they do.

A job is judged when it is created. Its spec hardly changes later, and a queue must be able to start an old one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

CREATE = ("CREATE",)
WRITE = ("CREATE", "UPDATE")


class Served(NamedTuple):
    """A resource of an API: its group, versions and plural name."""

    group: str
    versions: tuple[str, ...]
    plural: str
    operations: tuple[str, ...] = CREATE


SERVED = {
    "PyTorchJob": Served("kubeflow.org", ("v1",), "pytorchjobs"),
    "TFJob": Served("kubeflow.org", ("v1",), "tfjobs"),
    "MPIJob": Served("kubeflow.org", ("v1", "v2beta1"), "mpijobs"),
    "XGBoostJob": Served("kubeflow.org", ("v1",), "xgboostjobs"),
    "PaddleJob": Served("kubeflow.org", ("v1",), "paddlejobs"),
    "JAXJob": Served("kubeflow.org", ("v1",), "jaxjobs"),
    "TrainJob": Served("trainer.kubeflow.org", ("v1alpha1",), "trainjobs"),
    "TrainingRuntime": Served("trainer.kubeflow.org", ("v1alpha1",), "trainingruntimes", WRITE),
    "ClusterTrainingRuntime": Served("trainer.kubeflow.org", ("v1alpha1",), "clustertrainingruntimes", WRITE),
    "JobSet": Served("jobset.x-k8s.io", ("v1alpha2",), "jobsets"),
    "Job": Served("batch", ("v1",), "jobs"),
    "CronJob": Served("batch", ("v1",), "cronjobs", WRITE),
    "Deployment": Served("apps", ("v1",), "deployments"),
    "StatefulSet": Served("apps", ("v1",), "statefulsets"),
    "DaemonSet": Served("apps", ("v1",), "daemonsets"),
    "Pod": Served("", ("v1",), "pods"),
    "SriovNetworkNodePolicy": Served("sriovnetwork.openshift.io", ("v1",), "sriovnetworknodepolicies", WRITE),
    "SriovNetwork": Served("sriovnetwork.openshift.io", ("v1",), "sriovnetworks", WRITE),
}
WITH_REPLICAS = ("PyTorchJob", "TFJob", "MPIJob", "XGBoostJob", "PaddleJob", "JAXJob")
WITH_PODS = tuple(kind for kind in SERVED if not kind.startswith("Sriov"))


def resource_rules(served: list[Served]) -> list[dict[str, Any]]:
    """Returns the rules of a policy that match resources, those with the same API and operations together."""
    plurals: dict[tuple[str, tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for one in served:
        plurals.setdefault((one.group, one.versions, one.operations), []).append(one.plural)
    return [
        {"apiGroups": [group], "apiVersions": [*versions], "operations": [*operations], "resources": names}
        for (group, versions, operations), names in plurals.items()
    ]
