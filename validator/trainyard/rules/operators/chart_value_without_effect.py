"""A value of the chart of an operator has a name or place that the chart does not know, so it has no effect.

Helm accepts any value, and a template that does not read it renders as if it were absent: `mig.Strategy` leaves the MIG
strategy at its default, `toolkit-version` installs another version, and `nvIpam` within `secondaryNetwork` installs no
IPAM plugin. The rule knows the first level of values in all releases of the charts `gpu-operator` and
`network-operator`, and the second level of some sections. It also knows the first level of the chart `ray-cluster`,
whose groups are `head`, `worker` and `additionalWorkerGroups`, and that of `spark-operator` since 1.0, which has
`batchScheduler.enable` and `webhook.enable` for the former `enableBatchScheduler` and `enableWebhook`. It knows the
charts `kubeflow-trainer`, `jobset`, `kueue`, `lws`, `kuberay-operator` and `volcano`, too. That of the trainer installs
JobSet unless `jobset.install` is false; `jobset.enabled` is no value of it.

Since 24.10 the network operator's chart creates no NicClusterPolicy. `deployCR` and the sections of its parts, such as
`ofedDriver` and `secondaryNetwork`, have no effect; write a NicClusterPolicy beside the release.

The chart `nvidia-device-plugin` reads `config.default` as the name of one configuration of `config.map` or of the
ConfigMap `config.name`. With neither of them it does not use it, and GPUs are not shared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.analysis.objects.releases import DeclaredRelease, releases
from trainyard.document.document import Place
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.model.run import Project

# All names of any release, of the charts' values.yaml and of what their templates read.
GPU_OPERATOR = """
    ccManager cdi clusterPolicy daemonsets dcgm dcgmExporter dcgmPodExporter devicePlugin draDriver driver extraObjects
    fullnameOverride gdrcopy gds gfd global gpuCluster hostPaths image imagePullSecrets kataManager
    kataSandboxDevicePlugin mig migManager nameOverride nfd node-feature-discovery nodeStatusExporter nvidia operator
    platform psa psp replicaCount sandboxDevicePlugin sandboxWorkloads toolkit validator vfioManager vgpuDeviceManager
    vgpuManager
"""
NETWORK_OPERATOR = """
    deployCR devicePlugin docaTelemetryService fullnameOverride global ibKubernetes imagePullSecrets keepNCP
    maintenance-operator-chart maintenanceOperator nameOverride nfd nic-configuration-operator-chart
    nicConfigurationOperator nicFeatureDiscovery node-feature-discovery nodeAffinity nvIpam nvPeerDriver ofedDriver
    operator proxy psp rdmaSharedDevicePlugin secondaryNetwork sriov-network-operator sriovDevicePlugin
    sriovNetworkOperator test tolerations upgradeCRDs
"""
RAY_CLUSTER = """
    additionalWorkerGroups annotations common fullnameOverride gcsFaultTolerance global head headServiceEnable
    headServiceSuffix image imagePullSecrets ingress labels nameOverride service serviceAccount worker
"""
SPARK_OPERATOR = """
    affinity batchScheduler certManager commonLabels controller controllerThreads envFrom fullnameOverride global hook
    image imagePullSecrets ingressUrlFormat istio labelSelectorFilter leaderElection logLevel metrics nameOverride
    nodeSelector podAnnotations podDisruptionBudget podLabels podMonitor podSecurityContext priorityClassName prometheus
    rbac replicaCount resourceQuotaEnforcement resources resyncInterval securityContext serviceAccounts sidecars spark
    sparkJobNamespace sparkJobNamespaces tolerations topologySpreadConstraints uiService volumeMounts volumes webhook
"""
KUBEFLOW_TRAINER = """
    commonLabels crds dataCache fullnameOverride global image jobset lws manager nameOverride runtimes webhook
"""
JOBSET = (
    "certManager commonLabels controller fullnameOverride global image kubernetesClusterDomain nameOverride prometheus"
)
KUEUE = """
    certManager controllerManager enableCertManager enableKueueViz enableMutatingAdmissionPolicy enablePrometheus
    enableVisibilityAPF enableVisibilityAuthReaderRoleBinding fullnameOverride global kubernetesClusterDomain kueueViz
    managerConfig metrics metricsService mutatingWebhook nameOverride serviceAccount webhookService
"""
LWS = """
    affinity enableCertManager enableDisaggregatedSet enablePrometheus fullnameOverride gangSchedulingManagement global
    image imagePullSecrets nameOverride nodeSelector podAnnotations podSecurityContext priorityClassName replicaCount
    resources securityContext service serviceAccount tolerations
"""
KUBERAY_OPERATOR = """
    affinity annotations batchScheduler componentOverride configuration crNamespacedRbacEnable createCustomResource env
    featureGates fullnameOverride global image imagePullSecrets ingress kubeClient labels leaderElectionEnabled
    livenessProbe logging metrics nameOverride nodeSelector operatorComand operatorCommand podSecurityContext
    priorityClassName rbac rbacEnable readinessProbe reconcileConcurrency replicaCount replicas resources
    securityContext service serviceAccount singleNamespaceInstall tolerations useKubernetesProxy watchNamespace
"""
KNOWN: dict[str, dict[tuple[str, ...], tuple[str, ...]]] = {
    "ray-cluster": {(): tuple(RAY_CLUSTER.split())},
    "spark-operator": {(): tuple(SPARK_OPERATOR.split())},
    "kubeflow-trainer": {
        (): tuple(KUBEFLOW_TRAINER.split()),
        ("jobset",): ("install", *JOBSET.split()),
    },
    "jobset": {(): tuple(JOBSET.split())},
    "kueue": {(): tuple(KUEUE.split())},
    "lws": {(): tuple(LWS.split())},
    "kuberay-operator": {(): tuple(KUBERAY_OPERATOR.split())},
    "volcano": {(): ("basic", "custom", "global", "jobflow", "service")},
    "gpu-operator": {
        (): tuple(GPU_OPERATOR.split()),
        ("mig",): ("strategy",),
        ("nfd",): ("enabled", "nodefeaturerules"),
    },
    "network-operator": {
        (): tuple(NETWORK_OPERATOR.split()),
        ("secondaryNetwork",): ("cniPlugins", "deploy", "ipamPlugin", "ipoib", "multus"),
        ("nfd",): ("enabled", "deployNodeFeatureRules"),
    },
}
# Read by the network operator's chart before 24.10 only.
FORMER = (
    "deployCR",
    "ofedDriver",
    "rdmaSharedDevicePlugin",
    "sriovDevicePlugin",
    "ibKubernetes",
    "secondaryNetwork",
    "nvIpam",
    "nicFeatureDiscovery",
    "docaTelemetryService",
)
FIRST_WITHOUT = (24, 10)
# The first release whose values the table has; earlier charts of this name have others.
SINCE = {"spark-operator": (1, 0)}


@rule(
    code="GO014",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/gpu-operator v1.5.2 to v26.7.0 deployments/gpu-operator/values.yaml, templates",
        "Mellanox/network-operator v1.0.0 to v26.4.1 deployment/network-operator/values.yaml, templates",
        "ray-project/kuberay helm-chart/ray-cluster/values.yaml, templates",
        "kubeflow/trainer v2.1.0 to v2.3.0 charts/kubeflow-trainer; NVIDIA/aicr issue 2298",
        "charts of kubernetes-sigs/kueue, jobset and lws, ray-project/kuberay and volcano-sh/volcano, all releases",
        "kubeflow/spark-operator chart 1.0.2 to 2.5.2 values.yaml, templates; issue 1154",
        "NVIDIA/k8s-device-plugin v0.20.0 deployments/helm/nvidia-device-plugin/templates/_helpers.tpl: configMapName",
        "NVIDIA/gpu-operator issues 196 and 861; Mellanox/network-operator issue 889",
    ),
    needs=(*KNOWN, "nvidia-device-plugin"),
)
def chart_value_without_effect(project: Project) -> Iterator[Problem]:
    """Values that the chart of a release does not read."""
    for release in releases(project):
        since = SINCE.get(release.chart)
        is_known = since is None or (release.numbers or since) >= since
        for path, known in KNOWN.get(release.chart, {}).items() if is_known else ():
            yield from _unknown(release, path, known)
        if release.chart == "network-operator" and _version(release) >= FIRST_WITHOUT:
            yield from _former(release)
        if release.chart == "nvidia-device-plugin":
            yield from _default(release)


def _unknown(release: DeclaredRelease, path: tuple[str, ...], known: tuple[str, ...]) -> Iterator[Problem]:
    for name in mapping(release.values, *path):
        if name in known or name.startswith("x-"):
            continue
        yield Problem(
            _at(release, *path, name),
            f"the chart {release.chart} has no value `{'.'.join((*path, name))}`, so it has no effect",
            _advice(release.chart, path, name, known),
        )


def _advice(chart: str, path: tuple[str, ...], name: str, known: tuple[str, ...]) -> str:
    top = KNOWN[chart][()]
    if path and name in top:
        return f"move it to the first level: `{name}`"
    flag = next((one for one in top if name.lower() == f"enable{one}".lower()), None)
    if flag is not None:
        return f"write `{flag}.enable`"
    if name == "enabled" and "install" in known:
        return f"write `{'.'.join((*path, 'install'))}`"
    section, _, rest = name.partition("-")
    if rest and section in top:
        return f"write `{section}.{rest}`"
    close = closest_match(name, known, 0.7)
    return f"did you mean `{'.'.join((*path, close))}`?" if close else "remove it, or see the chart's values.yaml"


def _former(release: DeclaredRelease) -> Iterator[Problem]:
    present = [name for name in FORMER if name in release.values]
    if present:
        others = f" (also {', '.join(f'`{name}`' for name in present[1:])})" if len(present) > 1 else ""
        yield Problem(
            _at(release, present[0]),
            f"since 24.10 the chart network-operator creates no NicClusterPolicy: `{present[0]}` has no effect{others}",
            "write these sections in a NicClusterPolicy",
        )


def _default(release: DeclaredRelease) -> Iterator[Problem]:
    config = mapping(release.values, "config")
    if config.get("default") and not any(config.get(name) for name in ("name", "map", "files")):
        yield Problem(
            release.place("config", "default"),
            f"`config.default` is `{config['default']}`, but neither `config.map` nor `config.name` provides one",
            "set `config.name` to the ConfigMap, and `config.default` to one of its keys",
        )


def _at(release: DeclaredRelease, *path: str) -> Place:
    return release.place(*path) if release.values_at is None else release.place(*path).key()


def _version(release: DeclaredRelease) -> tuple[int, ...]:
    found = re.fullmatch(r"v?(\d+)\.(\d+)\.\d+.*", release.version)
    return (int(found[1]), int(found[2])) if found else ()
