"""Fields of objects that name another object, a part of another object, or the pods and namespaces that they select.

Pods are not in these tables: `analysis.objects.references` reads them. A path has dots, and `*` stands for each
member of a list or a mapping. Rules compare the tables with the files, so a new row is all that a further field
needs.

Sources: kubernetes v1.37.2 staging/src/k8s.io/api, apiextensions-apiserver and kube-aggregator (`types.go` of each
group); gateway-api.sigs.k8s.io/reference/spec and gateway-api-inference-extension.sigs.k8s.io/reference/spec; the
CRDs of the operators that tests/harness/cluster/tools/operators/go.mod pins (KEDA, Karpenter, KServe, Argo
Workflows); kubernetes/autoscaler vertical-pod-autoscaler/docs/api.md;
kubernetes.io/docs/concepts/storage/volume-snapshots; external-secrets.io/latest/api/spec;
cert-manager.io/docs/reference/api-docs; kubernetes-sigs/kueue v0.19.2 apis/kueue/v1beta2; kubeflow/trainer v2.3.0
pkg/apis/trainer/v1alpha1; prometheus-operator v0.93.1 Documentation/api-reference; NVIDIA/gpu-operator
api/nvidia/v1/clusterpolicy_types.go; fluxcd.io/flux/components: source, helm and kustomize.
"""

from __future__ import annotations

from typing import Final

from trainyard.startup import NamedTuple

# The named object is in the namespace of the one that names it, or in the `namespace` that stands beside its name.
OWN: Final = "own"
BESIDE: Final = "beside"


class NameField(NamedTuple):
    """A field with the name of an object. `target` is its kind if no `kind` stands beside; empty if one must.

    `where` is empty for objects without a namespace, and for those of which an operator knows the namespace.
    """

    kind: str
    path: str
    target: str
    where: str = ""


class PartField(NamedTuple):
    """A field with the name or the number of a part of an object, below `base`.

    `name` and `part` are paths below `base`, and `has` is the path of what the object has; `data` is each key of its
    data. `default` is the part if the field is missing.
    """

    kind: str
    base: str
    name: str
    part: str
    target: str
    has: str
    what: str
    default: int | None = None


class Selector(NamedTuple):
    """A field that selects pods by labels, and what happens if it selects none."""

    kind: str
    path: str
    otherwise: str


_ROUTES: Final = ("HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute")
_BINDINGS: Final = ("RoleBinding", "ClusterRoleBinding")
_WEBHOOKS: Final = ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")
_CLAIMS: Final = (
    ("ResourceClaim", "spec.devices.requests.*"),
    ("ResourceClaimTemplate", "spec.spec.devices.requests.*"),
)
# The specs of workflows, and the fields of their templates that call another template.
_WORKFLOWS: Final = (
    ("Workflow", "spec"),
    ("WorkflowTemplate", "spec"),
    ("ClusterWorkflowTemplate", "spec"),
    ("CronWorkflow", "spec.workflowSpec"),
)
_CALLS: Final = tuple(
    (kind, f"{spec}.templates.*.{call}")
    for kind, spec in _WORKFLOWS
    for call in ("steps.*.*.templateRef", "dag.tasks.*.templateRef")
)
_MONITORS: Final = (("ServiceMonitor", "spec.endpoints.*"), ("PodMonitor", "spec.podMetricsEndpoints.*"))
# Fields of an endpoint that hold a name and a key of a Secret.
_CREDENTIALS: Final = (
    "basicAuth.username", "basicAuth.password", "authorization.credentials", "bearerTokenSecret",
    "tlsConfig.ca.secret", "tlsConfig.cert.secret", "tlsConfig.keySecret", "oauth2.clientSecret",
)  # fmt: skip
_SECRETS_OF_DRIVERS: Final = (
    "nodeStageSecretRef", "nodePublishSecretRef", "controllerPublishSecretRef", "controllerExpandSecretRef",
)  # fmt: skip

# Mounts in the workers of Slurm that the operator of Nebius runs.
_MOUNTS: Final = ("volumes.customVolumeMounts", "customVolumeMounts", "volumes.jailSubMounts")

NAMES: Final[tuple[NameField, ...]] = (
    *(NameField(kind, "roleRef.name", "", OWN) for kind in _BINDINGS),
    *(NameField(kind, "subjects.*.name", "", BESIDE) for kind in _BINDINGS),
    NameField("ServiceAccount", "secrets.*.name", "Secret", OWN),
    NameField("ServiceAccount", "imagePullSecrets.*.name", "Secret", OWN),
    NameField("HorizontalPodAutoscaler", "spec.scaleTargetRef.name", "", OWN),
    NameField("VerticalPodAutoscaler", "spec.targetRef.name", "", OWN),
    NameField("ScaledObject", "spec.scaleTargetRef.name", "Deployment", OWN),
    NameField("ScaledObject", "spec.triggers.*.authenticationRef.name", "TriggerAuthentication", OWN),
    NameField("ScaledJob", "spec.triggers.*.authenticationRef.name", "TriggerAuthentication", OWN),
    NameField("TriggerAuthentication", "spec.secretTargetRef.*.name", "Secret", OWN),
    NameField("TriggerAuthentication", "spec.configMapTargetRef.*.name", "ConfigMap", OWN),
    NameField("NodePool", "spec.template.spec.nodeClassRef.name", ""),
    NameField("Ingress", "spec.rules.*.http.paths.*.backend.service.name", "Service", OWN),
    NameField("Ingress", "spec.defaultBackend.service.name", "Service", OWN),
    NameField("Ingress", "spec.ingressClassName", "IngressClass"),
    *(NameField(kind, "spec.rules.*.backendRefs.*.name", "Service", BESIDE) for kind in _ROUTES),
    *(NameField(kind, "spec.parentRefs.*.name", "Gateway", BESIDE) for kind in _ROUTES),
    NameField("Gateway", "spec.gatewayClassName", "GatewayClass"),
    NameField("InferencePool", "spec.extensionRef.name", "Service", OWN),
    NameField("InferencePool", "spec.endpointPickerRef.name", "Service", OWN),
    NameField("InferenceModel", "spec.poolRef.name", "InferencePool", OWN),
    NameField("InferenceObjective", "spec.poolRef.name", "InferencePool", OWN),
    *(NameField(kind, "webhooks.*.clientConfig.service.name", "Service", BESIDE) for kind in _WEBHOOKS),
    NameField("CustomResourceDefinition", "spec.conversion.webhook.clientConfig.service.name", "Service", BESIDE),
    NameField("APIService", "spec.service.name", "Service", BESIDE),
    NameField("ValidatingAdmissionPolicyBinding", "spec.policyName", "ValidatingAdmissionPolicy"),
    NameField("MutatingAdmissionPolicyBinding", "spec.policyName", "MutatingAdmissionPolicy"),
    NameField("PersistentVolumeClaim", "spec.volumeName", "PersistentVolume"),
    NameField("PersistentVolumeClaim", "spec.dataSource.name", "", OWN),
    NameField("PersistentVolumeClaim", "spec.dataSourceRef.name", "", BESIDE),
    NameField("PersistentVolumeClaim", "spec.volumeAttributesClassName", "VolumeAttributesClass"),
    NameField("PersistentVolume", "spec.claimRef.name", "PersistentVolumeClaim", BESIDE),
    *(NameField("PersistentVolume", f"spec.csi.{field}.name", "Secret", BESIDE) for field in _SECRETS_OF_DRIVERS),
    NameField("VolumeSnapshot", "spec.source.persistentVolumeClaimName", "PersistentVolumeClaim", OWN),
    NameField("VolumeSnapshot", "spec.volumeSnapshotClassName", "VolumeSnapshotClass"),
    NameField("ExternalSecret", "spec.secretStoreRef.name", "SecretStore", OWN),
    NameField("Certificate", "spec.issuerRef.name", "Issuer", OWN),
    NameField("ClusterQueue", "spec.admissionChecksStrategy.admissionChecks.*.name", "AdmissionCheck"),
    NameField("AdmissionCheck", "spec.parameters.name", ""),
    NameField("ResourceFlavor", "spec.topologyName", "Topology"),
    NameField("InferenceService", "spec.predictor.model.runtime", "ServingRuntime", OWN),
    NameField("InferenceService", "spec.predictor.serviceAccountName", "ServiceAccount", OWN),
    NameField("InferenceService", "spec.transformer.serviceAccountName", "ServiceAccount", OWN),
    NameField("InferenceGraph", "spec.nodes.*.steps.*.serviceName", "InferenceService", OWN),
    NameField("TrainedModel", "spec.inferenceService", "InferenceService", OWN),
    NameField("TrainJob", "spec.runtimeRef.name", "ClusterTrainingRuntime", OWN),
    # nebius/soperator v3 api/v1alpha1/nodeset_types.go, and docs of the chart nodesets
    *(NameField("NodeSet", f"spec.slurmd.{path}.*.volumeSource.configMap.name", "ConfigMap", OWN) for path in _MOUNTS),
    NameField("DeviceTaintRule", "spec.deviceSelector.deviceClassName", "DeviceClass"),
    *(NameField(kind, f"{path}.exactly.deviceClassName", "DeviceClass") for kind, path in _CLAIMS),
    *(NameField(kind, f"{path}.firstAvailable.*.deviceClassName", "DeviceClass") for kind, path in _CLAIMS),
    *(NameField(kind, f"{path}.deviceClassName", "DeviceClass") for kind, path in _CLAIMS),
    *(NameField(kind, f"{spec}.serviceAccountName", "ServiceAccount", OWN) for kind, spec in _WORKFLOWS),
    *(NameField(kind, f"{spec}.workflowTemplateRef.name", "WorkflowTemplate", OWN) for kind, spec in _WORKFLOWS),
    *(NameField(kind, f"{path}.name", "WorkflowTemplate", OWN) for kind, path in _CALLS),
    NameField("Prometheus", "spec.serviceAccountName", "ServiceAccount", OWN),
    NameField("Prometheus", "spec.alerting.alertmanagers.*.name", "Service", BESIDE),
    NameField("Alertmanager", "spec.serviceAccountName", "ServiceAccount", OWN),
    *(
        NameField(kind, f"{path}.{field}.name", "Secret", OWN)
        for kind, path in _MONITORS
        for field in _CREDENTIALS
    ),
    *(
        NameField("ClusterPolicy", f"spec.{part}.config.name", "ConfigMap")
        for part in ("devicePlugin", "migManager", "dcgmExporter")
    ),
    NameField("HelmRelease", "spec.chart.spec.sourceRef.name", "", BESIDE),
    NameField("HelmRelease", "spec.dependsOn.*.name", "HelmRelease", BESIDE),
    NameField("Kustomization", "spec.sourceRef.name", "", BESIDE),
    NameField("Kustomization", "spec.dependsOn.*.name", "Kustomization", BESIDE),
)  # fmt: skip

_PORTS: Final = "spec.ports.*.port"
_CONTAINERS: Final = "spec.template.spec.containers.*.name"

PARTS: Final[tuple[PartField, ...]] = (
    *(
        PartField("Ingress", base, "name", part, "Service", has, "port")
        for base in ("spec.rules.*.http.paths.*.backend.service", "spec.defaultBackend.service")
        for part, has in (("port.name", "spec.ports.*.name"), ("port.number", _PORTS))
    ),
    *(PartField(kind, "spec.rules.*.backendRefs.*", "name", "port", "Service", _PORTS, "port") for kind in _ROUTES),
    *(
        PartField(kind, "spec.parentRefs.*", "name", "sectionName", "Gateway", "spec.listeners.*.name", "listener")
        for kind in _ROUTES
    ),
    # The API server calls port 443 if no other one is written.
    *(
        PartField(kind, "webhooks.*.clientConfig.service", "name", "port", "Service", _PORTS, "port", 443)
        for kind in _WEBHOOKS
    ),
    PartField(
        "CustomResourceDefinition", "spec.conversion.webhook.clientConfig.service", "name", "port", "Service", _PORTS,
        "port", 443,
    ),
    PartField("APIService", "spec.service", "name", "port", "Service", _PORTS, "port", 443),
    PartField("InferencePool", "spec.extensionRef", "name", "portNumber", "Service", _PORTS, "port"),
    PartField("InferencePool", "spec.endpointPickerRef", "name", "port.number", "Service", _PORTS, "port"),
    *(
        PartField("HorizontalPodAutoscaler", "spec", "scaleTargetRef.name", field, target, _CONTAINERS, "container")
        for field in ("metrics.*.containerResource.container",)
        for target in ("Deployment", "StatefulSet")
    ),
    *(
        PartField("VerticalPodAutoscaler", "spec", "targetRef.name", field, target, _CONTAINERS, "container")
        for field in ("resourcePolicy.containerPolicies.*.containerName",)
        for target in ("Deployment", "StatefulSet", "DaemonSet")
    ),
    PartField(
        "ScaledObject", "spec.scaleTargetRef", "name", "envSourceContainerName", "Deployment", _CONTAINERS, "container"
    ),
    PartField("TriggerAuthentication", "spec.secretTargetRef.*", "name", "key", "Secret", "data", "key"),
    PartField("TriggerAuthentication", "spec.configMapTargetRef.*", "name", "key", "ConfigMap", "data", "key"),
    *(
        PartField(kind, f"{path}.{field}", "name", "key", "Secret", "data", "key")
        for kind, path in _MONITORS
        for field in _CREDENTIALS
    ),
    PartField("ClusterPolicy", "spec.devicePlugin.config", "name", "default", "ConfigMap", "data", "key"),
    PartField("ClusterPolicy", "spec.dcgmExporter.config", "name", "default", "ConfigMap", "data", "key"),
    *(
        PartField(kind, path, "name", "template", "WorkflowTemplate", "spec.templates.*.name", "template")
        for kind, path in _CALLS
    ),
    *(
        PartField(
            kind, spec, "workflowTemplateRef.name", "entrypoint", "WorkflowTemplate", "spec.templates.*.name",
            "template",
        )
        for kind, spec in _WORKFLOWS
    ),
)  # fmt: skip

SELECTORS: Final[tuple[Selector, ...]] = (
    # kubernetes v1.37.2 pkg/controller/disruption/disruption.go: an event NoPods, and no eviction is refused
    Selector("PodDisruptionBudget", "spec.selector", "it protects no pod from a drain"),
    # prometheus-operator v0.93.1 pkg/prometheus/promcfg.go: generatePodMonitorConfig keeps pods with the labels
    Selector("PodMonitor", "spec.selector", "Prometheus gets no target"),
    # gateway-api-inference-extension v1.0.0 pkg/epp/datastore: pods of the pool by its selector
    Selector("InferencePool", "spec.selector", "requests find no endpoint"),
    # kubernetes.io/docs/concepts/services-networking/network-policies: podSelector
    Selector("NetworkPolicy", "spec.podSelector", "it has no effect"),
)

# Fields that select namespaces by labels.
NAMESPACE_SELECTORS: Final[tuple[tuple[str, str], ...]] = (
    ("NetworkPolicy", "spec.ingress.*.from.*.namespaceSelector"),
    ("NetworkPolicy", "spec.egress.*.to.*.namespaceSelector"),
    ("ClusterQueue", "spec.namespaceSelector"),
    *((kind, "webhooks.*.namespaceSelector") for kind in _WEBHOOKS),
    ("Gateway", "spec.listeners.*.allowedRoutes.namespaces.selector"),
    *(
        ("Prometheus", f"spec.{of}NamespaceSelector")
        for of in ("serviceMonitor", "podMonitor", "rule", "probe", "scrapeConfig")
    ),
)
