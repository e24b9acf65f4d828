"""Files of one folder that explain each other, or belong to different projects."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from trainyard.cli import main
from trainyard.document import disk_answers

POOL = """apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: cpu}
spec:
  template:
    metadata: {labels: {ray-control-plane: "true"}}
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: cpu}
      requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]
"""
SERVER = """apiVersion: v1
kind: Pod
metadata: {name: server}
spec:
  nodeSelector: {workload: rayhead}
  containers: [{name: server, image: "registry.example.com/a:1"}]
"""
OIDC = """apiVersion: v1
kind: Secret
metadata: {name: login}
data: {clientId: $(oidc_client_id)}
"""
VARS = """apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [secret.yaml]
vars:
  - name: oidc_client_id
    objref: {apiVersion: v1, kind: ConfigMap, name: oidc-parameters}
    fieldref: {fieldpath: data.clientId}
configurations: [params.yaml]
"""
CHART = "apiVersion: v2\nname: user\nversion: 0.1.0\n"
BINDING = """apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: edit}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit}
subjects:
  - kind: ServiceAccount
    name: {{ .Values.account }}
"""
LABELLED = """apiVersion: v1
kind: Pod
metadata:
  name: secrets
  labels: {app: "secrets-{{ .Values.account }}"}
spec:
  containers: [{name: a, image: "registry.example.com/a:1"}]
"""
CLASS = """apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: pool}
provisioner: zfs.csi.openebs.io
parameters: {compression: lz4, dedup: off}
"""
RUNNER = """apiVersion: v1
kind: Pod
metadata: {name: runner}
spec:
  containers:
    - name: runner
      image: registry.example.com/runner:1
      env: [{name: CACHE, value: yes}]
"""
SET = """apiVersion: apps/v1
kind: StatefulSet
metadata: {name: queue}
spec:
  serviceName: queue
  selector: {matchLabels: {app: queue}}
  template:
    metadata: {labels: {app: queue}}
    spec:
      containers:
        - name: queue
          image: registry.example.com/queue:1
          volumeMounts: [{name: messages, mountPath: /data}]
"""
CLAIMS = """apiVersion: apps/v1
kind: StatefulSet
metadata: {name: queue}
spec:
  volumeClaimTemplates:
    - metadata: {name: messages}
      spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 5Gi}}}
"""
ACCOUNT = """apiVersion: v1
kind: ServiceAccount
metadata: {name: mesh, namespace: {{ .Values.system }}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: mesh, namespace: {{ .Release.Namespace }}}
spec:
  selector: {matchLabels: {app: mesh}}
  template:
    metadata: {labels: {app: mesh}}
    spec:
      serviceAccountName: mesh
      containers: [{name: mesh, image: "registry.example.com/mesh:1"}]
"""
BUDGET = """apiVersion: policy/v1beta1
kind: PodDisruptionBudget
metadata: {name: mesh}
spec: {minAvailable: 1, selector: {matchLabels: {app: mesh}}}
"""
INGRESS = """apiVersion: VERSION
kind: Ingress
metadata: {name: mesh}
spec: {backend: {serviceName: mesh, servicePort: 80}}
"""
ADMISSION = """apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: mesh}
spec: {validations: [{expression: "true"}]}
"""
DATABASE = """apiVersion: v1
kind: Pod
metadata: {name: store}
spec:
  containers:
    - name: store
      image: registry.example.com/store:1
      env: [{name: STORE_PASSWORD, value: tr1angle-Of-5}]
"""
GPU_POLICY = """apiVersion: nvidia.com/v1
kind: ClusterPolicy
metadata: {name: cluster-policy}
spec:
  driver: {enabled: true, rdma: {enabled: true}}
"""
NETWORK_POLICY = """apiVersion: mellanox.com/v1alpha1
kind: NicClusterPolicy
metadata: {name: nic-cluster-policy}
spec:
  secondaryNetwork:
    multus: {image: multus-cni, repository: ghcr.io/k8snetworkplumbingwg, version: v4.1.0}
"""
FEATURES = """apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: node-feature-discovery, namespace: kube-system}
spec:
  interval: 1h
  chart:
    spec:
      chart: node-feature-discovery
      version: 0.18.2
      sourceRef: {kind: HelmRepository, name: nfd}
"""
GPUS = """apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: gpu-operator, namespace: gpu-operator}
spec:
  interval: 1h
  chart:
    spec:
      chart: gpu-operator
      version: v25.10.0
      sourceRef: {kind: HelmRepository, name: nvidia}
  values:
    nfd: {enabled: true}
"""
SHARED = """apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: networking, namespace: flux-system}
spec:
  interval: 1h
  path: ./base/networking
  prune: true
  sourceRef: {kind: GitRepository, name: flux-system}
"""
GATED = """apiVersion: v1
kind: Pod
metadata: {name: server-0}
spec:
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.10.2
      args: [--model=meta-llama/Llama-3.1-8B-Instruct]
      resources: {limits: {nvidia.com/gpu: 1, memory: 64Gi}}
"""
HELD = """apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: store}
spec: {storageClassName: gp3, accessModes: [ReadWriteOnce], resources: {requests: {storage: 5Gi}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: store}
spec:
  selector: {matchLabels: {app: store}}
  template:
    metadata: {labels: {app: store}}
    spec:
      containers:
        - {name: store, image: "registry.example.com/store:1", volumeMounts: [{name: data, mountPath: /data}]}
      volumes: [{name: data, persistentVolumeClaim: {claimName: store}}]
"""
STORE = HELD.replace("storageClassName: gp3, ", "")
DEFAULT_CLASS = """apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: disks, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}
provisioner: ebs.csi.aws.com
"""
TOKENS = """apiVersion: v1
kind: Secret
metadata: {name: model-demo-app-token}
type: kubernetes.io/service-account-token
---
apiVersion: v1
kind: Pod
metadata: {name: model}
spec:
  containers:
    - name: model
      image: "registry.example.com/model:1"
      envFrom: [{secretRef: {name: model-demo-token}}]
"""
Lint = Callable[..., str]


@pytest.fixture
def lint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Lint:
    """Lint a folder of files; return the report."""
    monkeypatch.chdir(tmp_path)

    def run(texts: dict[str, str], *names: str) -> str:
        for name, text in texts.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        disk_answers.forget()  # those about folders of the last test, which had the same names
        main.main(["lint", *(names or ["."])])
        return capsys.readouterr().out

    return run


@pytest.mark.parametrize(
    ("pool", "server", "found"),
    [
        ("inference/karpenter/pool.yaml", "notebooks/llama/server.yaml", False),
        ("inference/karpenter/pool.yaml", "inference/serving/server.yaml", True),
        ("pools/pool.yaml", "apps/server.yaml", True),
        ("pool.yaml", "apps/serving/server.yaml", True),
    ],
)
def test_pools_of_another_project_say_nothing_about_labels(lint: Lint, pool: str, server: str, found: bool) -> None:
    assert ("TP021" in lint({pool: POOL, server: SERVER})) is found


@pytest.mark.parametrize(("other", "found"), [("serving/pools/pool.yaml", True), ("examples/batch/pool.yaml", False)])
def test_a_pool_of_another_example_may_belong_to_the_pod_too(lint: Lint, other: str, found: bool) -> None:
    pools = {"serving/pool.yaml": POOL, other: POOL.replace("name: cpu}", "name: batch}", 1)}
    assert ("TP021" in lint({**pools, "serving/pools/server.yaml": SERVER})) is found


def test_a_chart_is_installed_beside_pools_of_others(lint: Lint) -> None:
    label = POOL.replace("ray-control-plane", "workload").replace('"true"', "gpu")
    texts = {"server/Chart.yaml": CHART, "server/templates/pool.yaml": label, "server/templates/pod.yaml": SERVER}
    assert "TP021" not in lint(texts)


def test_kustomize_writes_words_for_booleans_in_quotes(lint: Lint) -> None:
    texts = {"base/class.yaml": CLASS, "base/runner.yaml": RUNNER}
    said = lint(texts)
    assert "SM003" in said
    assert "HV001" in said
    said = lint({**texts, "base/kustomization.yaml": "resources: [class.yaml, runner.yaml]\n"})
    assert "SM003" not in said
    assert "HV001" not in said
    assert "HV001" in lint({"base/runner.yaml": RUNNER.replace("yes", "true")})


def test_workloads_overlap_if_a_kustomization_lists_both(lint: Lint) -> None:
    agent = "apiVersion: apps/v1\nkind: KIND\nmetadata: {name: agent}\nspec:\n  selector: {matchLabels: {app: agent}}\n"
    agent += (
        '  template: {metadata: {labels: {app: agent}}, spec: {containers: [{name: a, image: "a.example.com/a:1"}]}}\n'
    )
    texts = {f"base/{name}.yaml": agent.replace("KIND", name) for name in ("Deployment", "DaemonSet")}
    head = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n  - ./Deployment.yaml\n"
    assert "RF044" not in lint({**texts, "base/kustomization.yaml": f"{head}  # - DaemonSet.yaml\n"})
    assert lint({"base/kustomization.yaml": f"{head}  - DaemonSet.yaml\n"}).count("RF044") == 1


def test_a_patch_of_another_folder_may_add_the_claims_of_a_statefulset(lint: Lint) -> None:
    assert "SM007" in lint({"base/set.yaml": SET})
    assert "SM007" not in lint({"dev/claims.yaml": CLAIMS})


@pytest.mark.parametrize(("name", "found"), [(".Release.Namespace", False), ("another", True)])
def test_the_namespace_of_a_release_may_be_any(lint: Lint, name: str, found: bool) -> None:
    template = ACCOUNT if not found else ACCOUNT.replace("{{ .Release.Namespace }}", name)
    texts = {
        "mesh/Chart.yaml": CHART,
        "mesh/values.yaml": "system: mesh-system\n",
        "mesh/templates/mesh.yaml": template,
    }
    assert ("RF001" in lint(texts)) is found


@pytest.mark.parametrize(("other", "found"), [("queue", False), ("broker", True)])
def test_an_object_of_another_environment_may_have_other_keys(lint: Lint, other: str, found: bool) -> None:
    entry = "env: [{name: A, valueFrom: {secretKeyRef: {name: queue, key: user-5}}}]"
    reading = SET.replace("volumeMounts: [{name: messages, mountPath: /data}]", entry)
    data = "apiVersion: v1\nkind: Secret\nmetadata: {name: queue}\nstringData: {user-1: a1b2}\n"
    texts = {"gke/secret.yaml": data, "gke/set.yaml": SET.replace("name: queue}", f"name: {other}}}", 1)}
    assert ("RF004" in lint({**texts, "oke/set.yaml": reading})) is found


@pytest.mark.parametrize(("newer", "found"), [("1.20", False), ("1.2", True), ("docs", True)])
def test_an_old_release_beside_a_newer_one_is_for_old_clusters(lint: Lint, newer: str, found: bool) -> None:
    current = BUDGET.replace("v1beta1", "v1")
    said = lint({"mesh/1.13/base/pdb.yaml": BUDGET, f"mesh/{newer}/base/pdb.yaml": current})
    assert ("SM019" in said) is found
    assert "SM005" not in said


@pytest.mark.parametrize(
    ("others", "found"),
    [
        ({}, "SM019"),
        ({"app/ingress.yaml": INGRESS.replace("VERSION", "networking.k8s.io/v1beta1")}, "SM019"),
        # Kubernetes had both for three releases, but nobody writes both.
        ({f"app/{n}.yaml": BUDGET.replace("v1beta1", "v1") for n in "ab"}, "SM005"),
        # No release had both.
        ({"app/account.yaml": ADMISSION}, "SM005"),
        ({"tools/account.yaml": ADMISSION}, "SM019"),
    ],
)
def test_a_folder_for_an_old_release_is_reported_once(lint: Lint, others: dict[str, str], found: str) -> None:
    said = lint({f"app/budget-{n}.yaml": BUDGET.replace("mesh", f"mesh-{n}") for n in range(5)} | others)
    assert said.count("SM019") == (found == "SM019")
    assert said.count("SM005") == (5 if found == "SM005" else 0)


@pytest.mark.parametrize(("newer", "found"), [("", False), (f"---\n{ADMISSION}", True)])
def test_charts_in_a_folder_for_an_old_release_are_for_it_too(lint: Lint, newer: str, found: bool) -> None:
    texts = {f"lesson/budget-{n}.yaml": BUDGET.replace("mesh", f"mesh-{n}") for n in range(5)}
    chart = {"Chart.yaml": CHART, "values.yaml": "a: 1\n", "templates/budget.yaml": BUDGET + newer}
    inside = {f"lesson/chart/{name}": text for name, text in chart.items()}
    outside = {f"other/chart/{name}": text for name, text in chart.items()}
    assert ("SM005" in lint(texts | inside)) is found
    assert "SM005" in lint(outside | {"tools/admission.yaml": ADMISSION})


def test_few_old_objects_are_reported_each(lint: Lint) -> None:
    said = lint({f"app/budget-{n}.yaml": BUDGET.replace("mesh", f"mesh-{n}") for n in range(4)})
    assert said.count("SM005") == 4


def test_releases_above_the_linted_folder_say_nothing_about_its_age(lint: Lint) -> None:
    texts = {"mesh/1.13/base/pdb.yaml": BUDGET, "mesh/1.20/base/pdb.yaml": BUDGET.replace("v1beta1", "v1")}
    assert "SM019" in lint(texts, "mesh/1.13")
    assert "SM019" not in lint(texts, "mesh")
    assert "SM019" not in lint(texts, "mesh/1.13/base/pdb.yaml")


def test_variables_of_a_kustomization_are_replaced_in_secrets(lint: Lint) -> None:
    assert "SM012" not in lint({"base/secret.yaml": OIDC, "base/kustomization.yaml": VARS})
    assert "SM012" in lint({"base/kustomization.yaml": VARS.replace("oidc_client_id", "another")})


def test_values_that_a_user_of_a_chart_fills_in_are_not_missing(lint: Lint) -> None:
    texts = {"user/Chart.yaml": CHART, "user/templates/edit.yaml": BINDING, "user/templates/pod.yaml": LABELLED}
    said = lint({**texts, "user/values.yaml": "account:\n"})
    assert "SM004" not in said
    assert "SM009" not in said
    container = "containers: [{name: a, "
    named = LABELLED.replace(container, 'containers: [{name: "run-{{ .Values.account }}", ')
    assert "SM009" not in lint({**texts, "user/templates/pod.yaml": named, "user/values.yaml": "account:\n"})
    assert "`run-` is not a valid `name`" in lint({"pod.yaml": SERVER.replace("[{name: server", "[{name: run-")})
    said = lint({"user/templates/edit.yaml": BINDING.replace("    name: {{ .Values.account }}\n", "")})
    assert "`subjects[0]` needs `name`" in said


@pytest.mark.parametrize(("patched", "lacking"), [("deployment.yaml", False), ("service.yaml", True)])
def test_a_patch_that_a_kustomization_above_names_may_lack_fields(lint: Lint, patched: str, lacking: bool) -> None:
    patch = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  template:\n    spec:\n"
    patch += '      containers: [{name: a, image: "registry.example.com/a:1"}]\n'
    named = f"resources: [../upstream]\npatches:\n  - path: controller/{patched}\n"
    said = lint({"base/controller/deployment.yaml": patch, "base/kustomization.yaml": named})
    assert ("needs `selector`" in said) is lacking


def test_only_helm_reads_values_as_yaml_1_1_and_docker_compose_does_not(lint: Lint) -> None:
    service = "server:\n  environment:\n    UMASK: 002\n"
    compose = "services:\n  server:\n    image: a\n    environment:\n      UMASK: 002\n"
    assert "HV002" in lint({"server/Chart.yaml": CHART, "server/values.yaml": service})
    assert "HV002" not in lint({"server/values.yaml": compose})


def test_the_default_class_of_another_example_is_not_that_of_a_claim(lint: Lint) -> None:
    assert "RF040" in lint({"shop/store.yaml": STORE, "shop/cluster/class.yaml": DEFAULT_CLASS})
    (Path.cwd() / "shop/cluster/class.yaml").unlink()
    assert "RF040" not in lint({"lesson/class.yaml": DEFAULT_CLASS})


@pytest.mark.parametrize("script", ["demo/deploy.sh", "demo/manifests/README.md", "demo/Makefile"])
def test_a_secret_that_a_script_creates_is_no_misspelt_one(lint: Lint, script: str) -> None:
    assert "RF002" in lint({"demo/manifests/model.yaml": TOKENS})
    assert "RF002" in lint({script: "kubectl create secret generic model-demo-token-2 --from-file=a\n"})
    assert "RF002" not in lint({script: "kubectl create secret generic model-demo-token --from-file=a\n"})


def test_a_script_above_the_linted_folder_creates_nothing_in_it(lint: Lint) -> None:
    texts = {
        "demo/manifests/model.yaml": TOKENS,
        "demo/deploy.sh": "kubectl create secret generic model-demo-token --from-file=a\n",
    }
    assert "RF002" in lint(texts, "demo/manifests")
    assert "RF002" not in lint(texts, "demo")
    assert "RF002" not in lint(texts, "demo/manifests/model.yaml")


@pytest.mark.parametrize("folder", ["examples/store", "docs/tutorial-2", "tests/e2e", "hack", "sample-app"])
def test_the_password_of_an_example_is_advice_to_its_readers(
    lint: Lint, capsys: pytest.CaptureFixture[str], folder: str
) -> None:
    file = f"shop/{folder}/store.yaml"
    assert "SC004" not in lint({file: DATABASE})
    main.main(["lint", ".", "--pedantic"])
    assert "SC062" in capsys.readouterr().out
    # Folders above the linted one say nothing about its files.
    assert "SC004" in lint({}, f"shop/{folder}")


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("overlays/test/store.yaml", DATABASE),
        ("latest/store.yaml", DATABASE),
        ("examples/store.yaml", DATABASE.replace("tr1angle-Of-5", "hf_0a1b2c3d4e5f6a7b8c9d")),
        ("examples/store.yaml", DATABASE.replace("tr1angle-Of-5", "0123456789abcdef0123456789abcdef01234567")),
    ],
)
def test_secrets_of_use_are_reported_wherever_they_stand(lint: Lint, file: str, text: str) -> None:
    assert "SC004" in lint({file: text})


@pytest.mark.parametrize(("folder", "found"), [("gpus", True), ("gpus/network", True), ("bridge", False)])
def test_the_network_policy_of_another_example_is_not_that_of_the_gpus(lint: Lint, folder: str, found: bool) -> None:
    texts = {"gpus/cluster-policy.yaml": GPU_POLICY, f"{folder}/nic-policy.yaml": NETWORK_POLICY}
    assert ("GO006" in lint(texts)) is found


def test_other_clusters_have_node_feature_discovery_too(lint: Lint) -> None:
    texts = {"base/system/nfd.yaml": FEATURES, "media/gpus.yaml": GPUS, "media/shared/networking.yaml": SHARED}
    assert "GO010" in lint(texts)
    assert "GO010" not in lint({"nebula/shared/networking.yaml": SHARED})
    assert "GO010" in lint({"media/nfd.yaml": FEATURES})


def test_a_file_of_servers_without_a_token_is_reported_once(lint: Lint) -> None:
    several = "---\n".join(GATED.replace("server-0", f"server-{number}") for number in range(3))
    assert lint({"a.yaml": several, "b.yaml": GATED.replace("server-0", "last")}).count("RF036") == 2


@pytest.mark.parametrize("file", ["mesh-3.21.2.yaml", "mesh/v0.5.1/budget.yaml", "budget-policy-v1beta1.yaml"])
def test_a_copy_of_a_release_is_for_clusters_of_its_time(lint: Lint, file: str) -> None:
    said = lint({file: BUDGET})
    assert "SM005" not in said
    assert "SM019" in said


def test_deployments_with_claims_of_one_node_are_reported_once(lint: Lint) -> None:
    texts = {f"{name}/app.yaml": HELD.replace("store", name) for name in ("books", "music", "photos")}
    said = lint(texts)
    assert said.count("RF040") == 1
    assert "as do 2 more Deployments" in said
    assert lint({"books/other.yaml": HELD.replace("store", "films").replace("gp3", "premium-rwo")}).count("RF040") == 1
