"""Conditions of the CRDs and webhooks of Kueue, JobSet, Kubeflow Trainer, LeaderWorkerSet, Volcano, Ray and Karpenter.

Source: kubernetes-sigs/kueue v0.19.2, kubernetes-sigs/jobset v0.12.0, kubeflow/trainer v2.3.0, kubernetes-sigs/lws
v0.9.0, volcano-sh/volcano v1.15.1, ray-project/kuberay v1.6.2 and kubernetes-sigs/karpenter v1.8.0:
x-kubernetes-validations of the CRDs, and the functions that a row names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.analysis.admission.clouds import NODE_POOL
from trainyard.analysis.admission.constraints import (
    DNS_1035,
    Check,
    Refused,
    Row,
    amount,
    excluding,
    is_known,
    labelled,
    named,
    one_of,
    ordered,
    requiring,
    unique,
    within,
)
from trainyard.analysis.admission.kubernetes import job_rows
from trainyard.document.document import Place
from trainyard.document.lookup import integer, items, mapping, text
from trainyard.facts.hardware.node_labels import HOSTNAME
from trainyard.startup import pattern

LABEL = "begin with a letter, and use at most 63 lower case letters, digits and dashes"
# Labels and domains that nodes of Karpenter may have, although their domain is restricted.
_RESTRICTED = ("kubernetes.io", "k8s.io", "karpenter.sh")
_OPEN = ("node.kubernetes.io", "node-restriction.kubernetes.io", "kops.k8s.io")
_FREE = frozenset((
    "beta.kubernetes.io/instance-type", "failure-domain.beta.kubernetes.io/region", "beta.kubernetes.io/os",
    "beta.kubernetes.io/arch", "failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region", "kubernetes.io/arch", "kubernetes.io/os", "node.kubernetes.io/windows-build",
    "karpenter.sh/capacity-type",
))  # fmt: skip
_URI = pattern(r"[A-Za-z][A-Za-z0-9+.-]*://.+\Z")
_TRAINER = "trainer.kubeflow.org"
_RUNTIMES = ("ClusterTrainingRuntime", "TrainingRuntime")
REDIS = (("redis-password", "REDIS_PASSWORD"), ("", "RAY_REDIS_ADDRESS"))


def _preemption(tree: Any, at: Place) -> Iterator[Refused]:
    policy = text(tree, "borrowWithinCohort", "policy") or "Never"
    if text(tree, "reclaimWithinCohort") in ("", "Never") and policy != "Never":
        told = "write another `reclaimWithinCohort`, such as Any"
        yield Refused(at.child("borrowWithinCohort").key(), "`borrowWithinCohort` needs `reclaimWithinCohort`", told)


def _fungibility(tree: Any, at: Place) -> Iterator[Refused]:
    given = (text(tree, "whenCanBorrow"), text(tree, "whenCanPreempt") or "TryNextFlavor")
    if mapping(tree).get("preference") is not None and given != ("TryNextFlavor", "TryNextFlavor"):
        told = "write `whenCanBorrow: TryNextFlavor` and `whenCanPreempt: TryNextFlavor`"
        yield Refused(at.child("preference"), "`preference` needs both conditions to be TryNextFlavor", told)


def _groups(groups: Any, at: Place) -> Iterator[Refused]:
    for field, path in (("coveredResources", ()), ("flavors", ("name",))):
        known: set[str] = set()
        for number, group in enumerate(groups if isinstance(groups, list) else ()):
            for index, one in enumerate(items(group, field)):
                name = text(one, "name") if path else str(one)
                if name and name in known and is_known(name):
                    place = at.child(number, field, index, *path)
                    yield Refused(place, f"`{name}` is in `{field}` twice", "list it in one group, once")
                known.add(name)


def _checks(spec: Any, at: Place) -> Iterator[Refused]:
    flavors = {text(one, "name") for group in items(spec, "resourceGroups") for one in items(group, "flavors")}
    for number, check in enumerate(items(spec, "admissionChecksStrategy", "admissionChecks")):
        for index, name in enumerate(items(check, "onFlavors")):
            if name not in flavors and is_known(name):
                place = at.child("admissionChecksStrategy", "admissionChecks", number, "onFlavors", index)
                yield Refused(place, f"the queue has no flavor `{name}`", "write the name of one of its flavors")


def _flavor(spec: Any, at: Place) -> Iterator[Refused]:
    if mapping(spec).get("topologyName") and not mapping(spec, "nodeLabels"):
        yield Refused(at.child("topologyName").key(), "`topologyName` needs `nodeLabels`", "add a label of the nodes")


def _toleration(one: Any, at: Place) -> Iterator[Refused]:
    operator = text(one, "operator")
    if operator == "Exists" and mapping(one).get("value"):
        yield Refused(at.child("value"), "a toleration with `operator: Exists` takes no value", "write `Equal`")
    elif isinstance(one, dict) and not one.get("key") and operator != "Exists":
        yield Refused(at, "a toleration without a key needs `operator: Exists`", "write `operator: Exists`")


def _levels(levels: Any, at: Place) -> Iterator[Refused]:
    names = [text(one, "nodeLabel") for one in levels] if isinstance(levels, list) else []
    if HOSTNAME in names[:-1]:
        yield Refused(
            at.child(names.index(HOSTNAME), "nodeLabel"), f"`{HOSTNAME}` is the lowest level", "write it last"
        )


def _cohort(tree: Any, at: Place) -> Iterator[Refused]:
    spec = mapping(tree, "spec")
    if spec.get("parentName") or spec.get("parent"):
        return
    for number, group in enumerate(items(spec, "resourceGroups")):
        for index, flavor in enumerate(items(group, "flavors")):
            for place, given in enumerate(items(flavor, "resources")):
                for name in ("borrowingLimit", "lendingLimit"):
                    if mapping(given).get(name) is not None:
                        path = ("spec", "resourceGroups", number, "flavors", index, "resources", place, name)
                        yield Refused(at.child(*path), f"`{name}` needs a parent", "add `parentName`, or remove it")


def _order_twice(spec: Any, at: Place) -> Iterator[Refused]:
    if text(spec, "startupPolicy", "startupPolicyOrder") == "InOrder":
        for index, job in enumerate(items(spec, "replicatedJobs")):
            if mapping(job).get("dependsOn") is not None:
                place = at.child("replicatedJobs", index, "dependsOn").key()
                yield Refused(place, "`startupPolicyOrder: InOrder` excludes `dependsOn`", "remove one of the two")


def _uri(tree: Any, at: Place) -> Iterator[Refused]:
    value = text(tree, "storageUri")
    if value and is_known(value) and not _URI.match(value):
        told = f"write the scheme too, such as `hf://{value.lstrip('/')}`"
        yield Refused(at.child("storageUri"), f"`{value}` is no URI", told)


def _runtime(tree: Any, at: Place) -> Iterator[Refused]:
    kind, group = mapping(tree).get("kind"), mapping(tree).get("apiGroup", _TRAINER)
    if isinstance(kind, str) and group == _TRAINER and is_known(kind) and kind not in _RUNTIMES:
        yield Refused(at.child("kind"), f"`{kind}` is not a kind of runtime", f"write one of {', '.join(_RUNTIMES)}")


def _rollout(spec: Any, at: Place) -> Iterator[Refused]:
    update = mapping(spec, "rolloutStrategy", "rollingUpdateConfiguration")
    if amount(update.get("maxUnavailable", 1)) == 0 and amount(update.get("maxSurge", 0)) == 0:
        place = at.child("rolloutStrategy", "rollingUpdateConfiguration", "maxUnavailable")
        yield Refused(place, "`maxUnavailable` cannot be 0 without `maxSurge`", "write 1, or add `maxSurge`")


def _sub_topology(tree: Any, at: Place) -> Iterator[Refused]:
    name = "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology"
    if mapping(tree, "metadata", "annotations").get(name) is None:
        return
    if mapping(tree, "spec", "leaderWorkerTemplate").get("subGroupPolicy") is None:
        place = at.child("metadata", "annotations", name).key()
        told = "add `subGroupPolicy.subGroupSize`, or remove the annotation"
        yield Refused(place, "`subgroup-exclusive-topology` needs a `subGroupPolicy`", told, True)


def _percent(name: str) -> Check:
    """A percentage is at most 100."""

    def check(tree: Any, at: Place) -> Iterator[Refused]:
        value = mapping(tree).get(name)
        if isinstance(value, str) and (amount(value) or 0) > 100:
            yield Refused(at.child(name), f"`{name}` is {value}, and must be at most 100%", "write 100% or less")

    return check


def _pod_sets(sets: Any, at: Place) -> Iterator[Refused]:
    variable = [index for index, one in enumerate(sets or ()) if mapping(one).get("minCount") is not None]
    if isinstance(sets, list) and len(variable) > 1:
        place = at.child(variable[1], "minCount").key()
        yield Refused(place, "`minCount` is in two pod sets, but only one may have it", "remove one of the two")


def _label_of_nodes(labels: Any, at: Place) -> Iterator[Refused]:
    for name in mapping(labels):
        domain, _, rest = str(name).partition("/")
        if not rest or name in _FREE or not is_known(name):
            continue
        restricted = next((one for one in _RESTRICTED if domain.endswith(one)), None)
        if name in ("karpenter.sh/nodepool", HOSTNAME) or (restricted and not domain.endswith(_OPEN)):
            told = "use a domain of your own"
            yield Refused(at.child(name).key(), f"a NodePool cannot set the label `{name}`", told)


def _partitions(task: Any, at: Place) -> Iterator[Refused]:
    policy = mapping(task, "partitionPolicy")
    count, size, pods = integer(policy, "totalPartitions"), integer(policy, "partitionSize"), integer(task, "replicas")
    if count and size and pods is not None and count * size != pods:
        told = f"write `replicas: {count * size}`"
        yield Refused(at.child("replicas"), f"{count} partitions of {size} pods are not {pods} replicas", told)


def _ray(path: str) -> Row:
    def check(tree: Any, at: Place) -> Iterator[Refused]:
        keys = path.split(".")
        spec, annotations = mapping(tree, *keys), mapping(tree, "metadata", "annotations")
        if spec:
            yield from _fault_tolerance(spec, annotations, at.child(*keys), at.child("metadata", "annotations"))
            yield from _scaling(spec, at.child(*keys))

    return Row("", check, "controllers/ray/utils/validation.go: ValidateRayClusterSpec")


def _fault_tolerance(spec: Any, annotations: Mapping[str, Any], at: Place, noted: Place) -> Iterator[Refused]:
    options = mapping(spec).get("gcsFaultToleranceOptions")
    start, first = mapping(spec, "headGroupSpec", "rayStartParams"), _head(spec)
    names = [text(one, "name") for one in items(first, "env")]
    head = at.child("headGroupSpec")
    env = head.child("template", "spec", "containers", 0, "env")
    if options is None:
        if "RAY_REDIS_ADDRESS" in names and annotations.get("ray.io/ft-enabled") != "true":
            place = env.child(names.index("RAY_REDIS_ADDRESS"), "name")
            told = "write `gcsFaultToleranceOptions.redisAddress`"
            yield Refused(place, "`RAY_REDIS_ADDRESS` needs `gcsFaultToleranceOptions`", told)
        return
    for name in ("ray.io/ft-enabled", "ray.io/external-storage-namespace"):
        if annotations.get(name):
            fault = f"the annotation `{name}` and `gcsFaultToleranceOptions` exclude each other"
            yield Refused(noted.child(name).key(), fault, "remove the annotation")
    for option, variable in REDIS:
        if start.get(option):
            place = head.child("rayStartParams", option).key()
            fault = f"`{option}` and `gcsFaultToleranceOptions` exclude each other"
            yield Refused(place, fault, "write `gcsFaultToleranceOptions.redisPassword`")
        if variable in names:
            fault = f"`{variable}` and `gcsFaultToleranceOptions` exclude each other"
            told = "write the value into `gcsFaultToleranceOptions`"
            yield Refused(env.child(names.index(variable), "name"), fault, told)


def _scaling(spec: Any, at: Place) -> Iterator[Refused]:
    is_scaled = mapping(spec).get("enableInTreeAutoscaling") is True
    version = text(spec, "autoscalerOptions", "version")
    policy = text(spec, "headGroupSpec", "template", "spec", "restartPolicy")
    if is_scaled and version == "v2" and policy in ("Always", "OnFailure"):
        place = at.child("headGroupSpec", "template", "spec", "restartPolicy")
        yield Refused(place, "the head of a cluster with autoscaler v2 is not restarted", "write `Never`")
    for index, one in enumerate(items(_head(spec), "env")):
        if text(one, "name") == "RAY_enable_autoscaler_v2" and text(one, "value") in ("1", "true"):
            place = at.child("headGroupSpec", "template", "spec", "containers", 0, "env", index)
            if not is_scaled and mapping(spec).get("enableInTreeAutoscaling") in (None, False):
                told = "add `enableInTreeAutoscaling: true`"
                yield Refused(place, "`RAY_enable_autoscaler_v2` needs `enableInTreeAutoscaling`", told)
            elif version:
                fault = "`RAY_enable_autoscaler_v2` and `autoscalerOptions.version` exclude each other"
                yield Refused(place, fault, "remove the variable")
    for index, group in enumerate(items(spec, "workerGroupSpecs")):
        if is_scaled and mapping(group).get("suspend") is True:
            place = at.child("workerGroupSpecs", index, "suspend")
            yield Refused(place, "a group of an autoscaled cluster cannot be suspended", "remove `suspend`")


def _head(spec: Any) -> Any:
    return next(iter(items(spec, "headGroupSpec", "template", "spec", "containers")), None)


def _submitter(spec: Any, at: Place) -> Iterator[Refused]:
    pod = mapping(spec, "submitterPodTemplate", "spec")
    policy, mode = pod.get("restartPolicy"), text(spec, "submissionMode") or "K8sJobMode"
    if mode == "SidecarMode" and mapping(spec).get("submitterPodTemplate") is not None:
        yield Refused(
            at.child("submitterPodTemplate").key(), "`SidecarMode` takes no `submitterPodTemplate`", "remove it"
        )
    elif pod and mode == "K8sJobMode" and policy in (None, "Always"):
        place = at.child("submitterPodTemplate", "spec")
        fault = "the Job of the submitter needs a `restartPolicy` of Never or OnFailure"
        yield Refused(place.child("restartPolicy") if policy else place.key(), fault, "write `restartPolicy: Never`")
    if mode == "InteractiveMode" and (integer(spec, "backoffLimit") or 0) > 0:
        yield Refused(at.child("backoffLimit"), "`InteractiveMode` takes no `backoffLimit`", "remove it")


def _deletion(spec: Any, at: Place) -> Iterator[Refused]:
    strategy = mapping(spec).get("deletionStrategy")
    if not isinstance(strategy, dict):
        return
    place, rules = at.child("deletionStrategy"), items(strategy, "deletionRules")
    old = [name for name in ("onSuccess", "onFailure") if strategy.get(name) is not None]
    if rules and old:
        yield Refused(place.child(old[0]).key(), f"`{old[0]}` and `deletionRules` exclude each other", "remove one")
    elif not rules and len(old) < 2:
        told = "write both, or `deletionRules`"
        yield Refused(place.key(), "`deletionStrategy` needs `onSuccess` and `onFailure`", told, True)
    elif rules and mapping(spec).get("shutdownAfterJobFinishes") is True:
        fault = "`shutdownAfterJobFinishes` and `deletionRules` exclude each other"
        yield Refused(at.child("shutdownAfterJobFinishes").key(), fault, "remove one of the two")
    for name in old:
        yield from _policy(spec, text(strategy, name, "policy"), place.child(name, "policy"))
    for index, one in enumerate(rules):
        yield from _policy(spec, text(one, "policy"), place.child("deletionRules", index, "policy"))


def _policy(spec: Any, policy: str, at: Place) -> Iterator[Refused]:
    """Yields a policy of deletion that does not suit the cluster of the job."""
    if mapping(spec).get("clusterSelector") and policy in ("DeleteCluster", "DeleteWorkers"):
        yield Refused(at, f"`{policy}` is not for a job that uses the cluster of `clusterSelector`", "remove it")
    elif mapping(spec, "rayClusterSpec").get("enableInTreeAutoscaling") is True and policy == "DeleteWorkers":
        fault = "`DeleteWorkers` is not for a cluster with autoscaling"
        yield Refused(at, fault, "write `DeleteCluster`, or turn the autoscaler off")
    elif mapping(spec).get("shutdownAfterJobFinishes") is True and policy == "DeleteNone":
        yield Refused(at, "`DeleteNone` and `shutdownAfterJobFinishes` exclude each other", "remove one of the two")


def _requirement(one: Any, at: Place) -> Iterator[Refused]:
    operator, values = text(one, "operator"), items(one, "values")
    if operator == "In" and not values:
        yield Refused(at, "`operator: In` needs values", "add them", True)
    elif operator in ("Gt", "Lt") and len(values) != 1:
        yield Refused(at, f"`operator: {operator}` takes one value", "write one integer", True)
    if text(one, "key") in ("karpenter.sh/nodepool", HOSTNAME):
        yield Refused(at.child("key"), f"a requirement cannot name `{text(one, 'key')}`", "remove it")


_JOBSET = "pkg/webhooks/jobset_webhook.go: ValidateCreate"


def _set_rows(path: str) -> tuple[Row, ...]:
    return (
        Row(path, _order_twice, "JobSet CRD"),
        Row(f"{path}.network", named("subdomain", DNS_1035, LABEL), _JOBSET),
        *job_rows(f"{path}.replicatedJobs[].template.spec"),
    )


_QUOTAS = "spec.resourceGroups[].flavors[].resources[]"
_RUNTIME = _set_rows("spec.template.spec")
_RAY_JOB = (
    Row("spec", _submitter, "ValidateRayJobSpec; kubernetes: validateJobSpec"),
    Row("spec", _deletion, "validateDeletionConfiguration"),
    Row("spec.deletionStrategy.deletionRules[].condition", one_of("jobStatus", "jobDeploymentStatus"), "RayJob CRD"),
    _ray("spec.rayClusterSpec"),
)

# By the kind, with the group of its API.
ROWS: Mapping[tuple[str, str], tuple[Row, ...]] = {
    ("kueue.x-k8s.io", "ClusterQueue"): (
        Row("spec.preemption", _preemption, "ClusterQueue CRD"),
        Row("spec.flavorFungibility", _fungibility, "ClusterQueue CRD"),
        Row("spec.resourceGroups", _groups, "pkg/webhooks/clusterqueue_webhook.go: validateResourceGroups"),
        Row("spec", _checks, "pkg/webhooks/clusterqueue_webhook.go: validateAdmissionCheckOnFlavors"),
        Row(_QUOTAS, ordered("lendingLimit", "nominalQuota"), "clusterqueue_webhook.go: validateLendingLimit"),
    ),
    ("kueue.x-k8s.io", "Cohort"): (
        Row("spec.resourceGroups", _groups, "pkg/webhooks/clusterqueue_webhook.go: validateResourceGroups"),
        Row("", _cohort, "pkg/webhooks/cohort_webhook.go: validateCohort"),
    ),
    ("kueue.x-k8s.io", "ResourceFlavor"): (
        Row("spec", _flavor, "ResourceFlavor CRD"),
        Row("spec.nodeLabels", labelled, "pkg/webhooks/resourceflavor_webhook.go: ValidateResourceFlavor"),
        Row("spec.nodeTaints", unique("key", "effect"), "resourceflavor_webhook.go: validateNodeTaints"),
        Row("spec.tolerations[]", _toleration, "ResourceFlavor CRD"),
    ),
    ("kueue.x-k8s.io", "Topology"): (
        Row("spec.levels", _levels, "Topology CRD"),
        Row("spec.levels", unique("nodeLabel"), "Topology CRD"),
    ),
    ("kueue.x-k8s.io", "Workload"): (
        Row("spec.podSets", _pod_sets, "pkg/webhooks/workload_webhook.go: ValidateWorkload"),
        Row("spec.podSets", unique("name"), "Workload CRD"),
        Row("spec.podSets[]", ordered("minCount", "count"), "Workload CRD"),
        Row("spec", requiring("priorityClassName", "priority"), "Workload CRD"),
        Row("spec", requiring("priorityClassRef", "priority"), "Workload CRD"),
    ),
    ("kueue.x-k8s.io", "MultiKueueConfig"): (Row("spec.clusters", unique(), "MultiKueueConfig CRD"),),
    ("jobset.x-k8s.io", "JobSet"): _set_rows("spec"),
    ("trainer.kubeflow.org", "TrainingRuntime"): _RUNTIME,
    ("trainer.kubeflow.org", "ClusterTrainingRuntime"): _RUNTIME,
    ("trainer.kubeflow.org", "TrainJob"): (
        *(Row(f"spec.initializer.{part}", _uri, "TrainJob CRD") for part in ("dataset", "model")),
        Row("spec.runtimeRef", _runtime, "pkg/webhooks/trainjob_webhook.go: unsupported runtime"),
    ),
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): (
        Row("spec", _rollout, "pkg/webhooks/leaderworkerset_webhook.go: generalValidate"),
        Row("spec", within("replicas", 0), "pkg/webhooks/leaderworkerset_webhook.go: generalValidate"),
        Row("", _sub_topology, "pkg/webhooks/leaderworkerset_webhook.go: generalValidate"),
        *(
            Row("spec.rolloutStrategy.rollingUpdateConfiguration", _percent(name), "isNotMoreThan100Percent")
            for name in ("maxUnavailable", "maxSurge")
        ),
    ),
    ("batch.volcano.sh", "Job"): (
        Row("spec.tasks[]", _partitions, "admit_job.go: validatePartitionPolicy"),
        Row("spec.networkTopology", excluding("highestTierAllowed", "highestTierName"), "admit_job.go"),
        Row("spec.volumes", unique("mountPath"), "admit_job.go: validateIO"),
        Row("spec.volumes[]", one_of("volumeClaim", "volumeClaimName"), "admit_job.go: validateIO"),
    ),
    ("ray.io", "RayCluster"): (_ray("spec"),),
    ("ray.io", "RayService"): (_ray("spec.rayClusterConfig"),),
    ("ray.io", "RayJob"): _RAY_JOB,
    ("topology.volcano.sh", "HyperNode"): (
        Row("spec.members[].selector", one_of("exactMatch", "regexMatch", "labelMatch"), "HyperNode CRD"),
    ),
    ("karpenter.sh", "NodePool"): (
        Row("spec.template.spec.requirements[]", _requirement, "NodePool CRD"),
        Row("spec.template.metadata.labels", _label_of_nodes, "NodePool CRD"),
        Row("spec.disruption.budgets[]", requiring("schedule", "duration"), "NodePool CRD"),
        Row("spec.disruption.budgets[]", requiring("duration", "schedule"), "NodePool CRD"),
        *NODE_POOL,
    ),
}
