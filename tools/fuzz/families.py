"""Families of inputs that once took longer than their budget: a beginning, and a part that is repeated."""

from __future__ import annotations

from collections.abc import Iterator

_CONTAINERS = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: llm}
spec:
  pytorchReplicaSpecs:
    Worker:
      template:
        spec:
          containers:
"""
_SCRIPT = "          - name: pytorch\n            command: [bash, -c]\n            args:\n            - |\n"
_ROLES = "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: llm}\nspec:\n  pytorchReplicaSpecs:\n"
_TRAIN_JOB = """\
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: torch}
spec: {mlPolicy: {numNodes: 2}, template: {spec: {replicatedJobs: [{name: node, template: {spec: {}}}]}}}
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: llm}
spec: {runtimeRef: {name: torch}}
"""
_MISSPELT = """\
---
apiVersion: v1
kind: ConfigMap
metadata: {name: deepspeed-%d}
data: {zero3.json: '{"train_batch_size": 2, "gradient_cliping": 1.0, "zero_optimization": {"contiguous_gradient": 1}}'}
"""
_RELEASE = """\
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: network-operator-%d}
spec:
  source:
    chart: network-operator
    targetRevision: 26.4.1
    helm: {values: "nfd: {enabled: true}"}
"""
_NETWORKS = """\
---
networks:
  - {name: ib-%d, namespace: training, type: ib-sriov, resourceName: nvidia.com/ib, pkey: "0x8001"}
"""
_RAILS = """\
processesPerNode: 8
fabric: {profile: onprem-roce, networks: [{name: roce}], rails: 8}
resources: {limits: {nvidia.com/gpu: 8}}
"""
_MOUNT = """\
---
apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: a, image: a, volumeMounts: [{name: b, mountPath: /b}]}]}
"""
_BARE_TRAIN_JOB = """\
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {}
spec: {trainer: {resourcesPerNode: {limits: {nvidia.com/gpu: 8}}}}
"""
_SERVICE = """\
---
apiVersion: ray.io/v1
kind: RayService
metadata: {name: ranker}
spec:
  serveConfigV2: |
    proxy_location: EveryNode
    applications:
      - {name: ranker, import_path: "ranker.app:graph", deployments: [{name: Ranker, user_config: {topK: 5}}]}
"""
_MOUNTED = """\
---
apiVersion: v1
kind: ConfigMap
metadata: {name: scripts}
data: {train.sh: python train.py}
---
apiVersion: v1
kind: Pod
metadata: {name: llm}
spec: {containers: [{name: main, image: a}], volumes: [{name: scripts, configMap: {name: scripts}}]}
"""
_ACCELERATE = """\
---
apiVersion: v1
kind: ConfigMap
metadata: {name: llm}
data: {accelerate.yaml: '{compute_environment: LOCAL_MACHINE, distributed_type: DEEPSPEED, deepspeed_config: {}}'}
---
apiVersion: batch/v1
kind: Job
metadata: {name: llm}
spec: {template: {spec: {containers: [{name: a, command: [accelerate, launch, --config_file=accelerate.yaml, a.py]}]}}}
"""

_REFERENCES = "".join(
    f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: settings-of-run-0{number}}}\n---\n" for number in range(1000)
)
_REFERENCES += """\
apiVersion: v1
kind: Pod
metadata: {name: llm}
spec:
  containers:
  - name: main
    image: a
    envFrom:
"""

_SERVED = """apiVersion: v1
kind: Service
metadata: {name: a%d}
spec: {selector: {app: a%d}, ports: [{port: 80}]}
---
apiVersion: v1
kind: Pod
metadata: {name: a%d, labels: {app: a%d}}
spec: {containers: [{name: a, image: "r/a:1", ports: [{containerPort: 8080}]}]}
---
"""
_POD = """\
---
apiVersion: v1
kind: Pod
metadata: {name: web-%d, namespace: default, labels: {app: web}}
spec:
  containers:
  - name: main
    image: registry.example.com/team/web:1.2.3
    ports: [{containerPort: 8080}]
    resources: {limits: {cpu: 500m, memory: 512Mi}}
"""
_MONITORED = """\
---
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: a%d, namespace: monitoring}
spec: {podMonitorSelector: {matchLabels: {release: a%d}}, podMonitorNamespaceSelector: {}}
---
apiVersion: monitoring.coreos.com/v1
kind: PodMonitor
metadata: {name: a%d, namespace: training, labels: {release: b%d}}
spec: {selector: {matchLabels: {app: llm}}, podMetricsEndpoints: [{port: metrics}]}
"""
_OBJECT = "apiVersion: %s\nkind: %s\nmetadata: {name: a}\nspec:\n"
_RAY = _OBJECT % ("ray.io/v1", "RayCluster") + "  workerGroupSpecs:\n"
_VOLCANO = _OBJECT % ("batch.volcano.sh/v1alpha1", "Job") + "  tasks:\n"
_WORKFLOW = _OBJECT % ("argoproj.io/v1alpha1", "Workflow") + "  entrypoint: t0\n  templates:\n"
_SOURCES = _OBJECT % ("argoproj.io/v1alpha1", "Application") + "  sources:\n"
_QUEUE = _OBJECT % ("kueue.x-k8s.io/v1beta1", "ClusterQueue") + "  resourceGroups:\n"
# What the budget of parts does not count, because it is cheap.
_SPEC = _OBJECT % ("v1", "Pod") + "  containers: [{name: a, image: b}]\n"

_NESTED = "---\napiVersion: " + "{a: " * 190 + "1" + "}" * 190 + "\nkind: Job\nmetadata: {name: a%d}\n"
_NESTED += "spec: {template: {spec: {containers: [{name: a, image: b}]}}}\n"

FAMILIES = {
    "copies of a TrainJob and its runtime": ("", _TRAIN_JOB),
    "copies of a pod that mounts no volume": ("", _MOUNT),
    "containers with unknown variables": (
        _CONTAINERS,
        "          - {name: c%d, image: example.com/llm:1, env: [{name: NCCL_UNKNOWN_%d, value: a}]}\n",
    ),
    "roles": (_ROLES, "    W%d: {replicas: 1, template: {spec: {containers: [{name: pytorch, image: a}]}}}\n"),
    "commands of a script": (_CONTAINERS + _SCRIPT, "              a; b | c & d\n"),
    "misspelt words again and again": ("", _MISSPELT),
    "values again and again": ("", "---\nnodes: 2\nelastic: {enabled: true, minNodes: 2, maxNodes: 8}\n"),
    "values of another chart again and again": ("", _NETWORKS),
    "releases of charts": ("", _RELEASE),
    "rails": (_RAILS, "# rail %d\n"),
    "one long value": ("nodes: 2\ntrain:\n  args:\n    - ", "x%d "),
    "quoted templates in a damaged file": ("a: }\n", 'b%d: "{{ .Values.x }}"\n'),
    "broken documents": ("", "---\nkind: Job\na: }\n"),
    "TrainJobs without a runtime": ("", _BARE_TRAIN_JOB),
    "configurations of Ray Serve": ("", _SERVICE),
    "a number of many digits": (_ROLES + "    Worker:\n      replicas: ", "9"),
    "ConfigMaps of one name": ("", _MOUNTED),
    "Services and their pods": ("", _SERVED),
    "monitors that no Prometheus selects": ("", _MONITORED),
    "configurations of Accelerate": ("", _ACCELERATE),
    "open comments in a configuration of DeepSpeed": ('{"zero_optimization": ', "/* "),
    "references to no object": (_REFERENCES, "    - {configMapRef: {name: settings-of-run-%d}}\n"),
    "containers": (_CONTAINERS, "          - {name: c%d}\n"),
    "commands of containers": (_CONTAINERS, "          - {name: c%d, image: a, command: [bash, -c, torchrun a.py]}\n"),
    "pods": ("", _POD),
    "groups of a RayCluster": (_RAY, "  - {groupName: g%d, template: {spec: {containers: [{name: a, image: b}]}}}\n"),
    "tasks of Volcano": (
        _VOLCANO,
        "  - {name: t%d, replicas: 1, template: {spec: {containers: [{name: a, image: b}]}}}\n",
    ),
    "templates of an Argo Workflow": (_WORKFLOW, "  - {name: t%d, container: {image: a}}\n"),
    "sources of an Argo Application": (
        _SOURCES,
        "  - {chart: network-operator, helm: {values: 'nfd: {enabled: true}'}}\n",
    ),
    "quotas of a ClusterQueue": (
        _QUEUE,
        "  - {coveredResources: [r%d], flavors: [{name: a, resources: [{name: r%d}]}]}\n",
    ),
    "variables": (
        _OBJECT % ("v1", "Pod") + "  containers:\n  - name: a\n    env:\n",
        "    - {name: NCCL_%d, value: a}\n",
    ),
    "objects with a deep field": ("", _NESTED),
    "volumes": (_SPEC + "  volumes:\n", "  - {name: v%d, configMap: {name: a}}\n"),
    "flow collections": ("a: [", "{b: [%d]}, "),
}


def grown(name: str, size: int) -> str:
    """Returns the input of a family with about this number of bytes, which ends with a whole part."""
    before, repeated = FAMILIES[name]
    count = (size - len(before)) // (len(repeated) + 3 * repeated.count("%d"))
    return before + "".join(repeated.replace("%d", str(number)) for number in range(count))


def seeds(size: int) -> Iterator[tuple[str, bytes]]:
    """Yields an input of this size for each family, with the name of the family."""
    for name in FAMILIES:
        yield name, grown(name, size).encode()
