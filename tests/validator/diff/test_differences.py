"""Two runs: another form is no difference, and each change of the meaning has a topic and a name."""

from __future__ import annotations

import pytest

from trainyard.commands.diff.comparison import Change, compare
from trainyard.document import reading
from trainyard.document.source import Source
from trainyard.loaders.manifests.manifest import load_project
from trainyard.model.run import Run

MEMORY = "/dev/shm"  # noqa: S108 - a path in a container
JOB = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata:
  name: llm
  labels: {kueue.x-k8s.io/queue-name: training}
spec:
  nprocPerNode: "8"
  runPolicy: {backoffLimit: 4, cleanPodPolicy: None}
  pytorchReplicaSpecs:
    Master: &pods
      replicas: 1
      restartPolicy: OnFailure
      template:
        metadata: {labels: {team: vision}}
        spec:
          nodeSelector: {pool: a}
          tolerations: [{key: gpu, operator: Exists}, {key: spot, operator: Exists}]
          initContainers: [{name: fetch, image: "fetch:1", command: [fetch, /data]}]
          containers:
            - name: pytorch
              image: registry.example.com/llm:1
              command: [torchrun, --tee=3, train.py]
              args: [--lr, "0.1", --epochs=3, --data, llm-master-0]
              env:
                - {name: NCCL_DEBUG, value: INFO}
                - {name: SEED, value: "1"}
                - {name: HF_TOKEN, valueFrom: {secretKeyRef: {name: hf, key: token}}}
              ports: [{name: pytorchjob-port, containerPort: 23456}]
              resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 8}}
              volumeMounts: [{name: data, mountPath: /data}, {name: shm, mountPath: /dev/shm}]
          volumes:
            - {name: data, persistentVolumeClaim: {claimName: corpus}}
            - {name: shm, emptyDir: {medium: Memory, sizeLimit: 8Gi}}
    Worker:
      <<: *pods
      replicas: 3
"""
# The same meaning in another form, by a replacement in the text.
SAME = {
    "order of variables": (
        '{name: NCCL_DEBUG, value: INFO}\n                - {name: SEED, value: "1"}',
        '{name: SEED, value: "1"}\n                - {name: NCCL_DEBUG, value: INFO}',
    ),
    "order of options": ('--lr, "0.1", --epochs=3', '--epochs, "3", "--lr=0.1"'),
    "order of tolerations": (
        "{key: gpu, operator: Exists}, {key: spot, operator: Exists}",
        "{key: spot, operator: Exists}, {key: gpu, operator: Exists}",
    ),
    "order of mounts": (
        "{name: data, mountPath: /data}, {name: shm, mountPath: /dev/shm}",
        "{name: shm, mountPath: /dev/shm}, {name: data, mountPath: /data/}",
    ),
    "quantity as text": ("cpu: 8,", 'cpu: "8",'),
    "unit of a quantity": ("memory: 64Gi", "memory: 65536Mi"),
    "unit of a volume": ("sizeLimit: 8Gi", "sizeLimit: 8192Mi"),
    "request like the limit": ("resources: {", "resources: {requests: {cpu: 8}, "),
    "default of a pod": ("nodeSelector:", "dnsPolicy: ClusterFirst\n          nodeSelector:"),
    "default of a container": ("image: registry", "terminationMessagePolicy: File\n              image: registry"),
    "default of a port": ("containerPort: 23456}", "containerPort: 23456, protocol: TCP}"),
    "default of a pull": ("image: registry", "imagePullPolicy: IfNotPresent\n              image: registry"),
    "default of the policy": (", cleanPodPolicy: None", ""),
    "option that the operator sets": ("--tee=3,", "--tee=3, --nnodes=4, --nproc_per_node=8,"),
    "words in args": (
        "[torchrun, --tee=3, train.py]\n              args: [",
        "[torchrun]\n              args: [--tee=3, train.py, ",
    ),
    "annotations of tools": (
        "  name: llm\n",
        "  name: llm\n  uid: a\n  annotations: {kubectl.kubernetes.io/last-applied: a, trainyard/pods: a}\n",
    ),
    "labels of Helm": ("labels: {kueue", "labels: {app.kubernetes.io/managed-by: Helm, kueue"),
    "suspension by a queue": ("runPolicy: {", "runPolicy: {suspend: true, "),
    "name of a volume": ("name: data,", "name: corpus,"),
    "order of containers' fields": ("{name: fetch, image:", "{imagePullPolicy: IfNotPresent, name: fetch, image:"),
}
# Another meaning, by a replacement: the topic and the name of the change.
OTHER = {
    "image": ("llm:1", "llm:2", "image", "image"),
    "pull": ("image: registry", "imagePullPolicy: Always\n              image: registry", "image", "pull policy"),
    "program": ("train.py", "other.py", "program", "words"),
    "option": ('"0.1"', '"0.2"', "program", "train.py --lr"),
    "option of torchrun": ("--tee=3, ", "", "program", "torchrun --tee"),
    "option of another program": ("--tee=3, train.py", "train.py, --tee=3", "program", "torchrun --tee"),
    "replicas": ("replicas: 3", "replicas: 4", "roles", "replicas of Worker"),
    "processes": ('"8"\n', '"4"\n', "roles", "processes of each pod"),
    "limit": ("cpu: 8,", "cpu: 9,", "resources", "limit of cpu"),
    "request": ("resources: {", "resources: {requests: {cpu: 4}, ", "resources", "request of cpu"),
    "variable": ('value: "1"', 'value: "2"', "environment", "SEED"),
    "secret": ("key: token", "key: other", "environment", "HF_TOKEN"),
    "NCCL": ("value: INFO", "value: WARN", "NCCL", "NCCL_DEBUG"),
    "claim": ("claimName: corpus", "claimName: other", "volumes", "/data"),
    "path": ("mountPath: /dev/shm", "mountPath: /shm", "volumes", MEMORY),
    "read-only": ("mountPath: /data}", "mountPath: /data, readOnly: true}", "volumes", "/data"),
    "size": ("sizeLimit: 8Gi", "sizeLimit: 16Gi", "volumes", MEMORY),
    "nodes": ("pool: a", "pool: b", "placement", "nodeSelector.pool"),
    "toleration": (", {key: spot, operator: Exists}", "", "placement", "tolerations"),
    "queue": ("queue-name: training", "queue-name: other", "placement", "queue"),
    "restarts": ("restartPolicy: OnFailure", "restartPolicy: Never", "policies", "restartPolicy"),
    "limit of restarts": ("backoffLimit: 4", "backoffLimit: 5", "policies", "runPolicy.backoffLimit"),
    "init container": ("[fetch, /data]", "[fetch, /other]", "pods", "init container fetch"),
    "label": ("team: vision", "team: language", "pods", "label team"),
    "security": (
        "nodeSelector:", "securityContext: {runAsUser: 1}\n          nodeSelector:", "pods",
        "securityContext.runAsUser",
    ),
    "version": ("kubeflow.org/v1\n", "kubeflow.org/v2\n", "versions", "apiVersion"),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new"), SAME.values(), ids=SAME)
def test_another_form_is_no_difference(old: str, new: str) -> None:
    assert old in JOB
    assert compare(run(JOB), run(JOB.replace(old, new))) == []


@pytest.mark.parametrize(("old", "new", "topic", "name"), OTHER.values(), ids=OTHER)
def test_another_meaning_is_a_difference(old: str, new: str, topic: str, name: str) -> None:
    assert old in JOB
    assert (topic, name) in [(change.topic, change.name) for change in compare(run(JOB), run(JOB.replace(old, new)))]


def test_a_change_of_all_pods_is_told_once() -> None:
    changed = JOB.replace("llm:1", "llm:2")
    assert compare(run(JOB), run(changed)) == [
        Change("image", "image", "registry.example.com/llm:1", "registry.example.com/llm:2", ())
    ]


def test_a_change_of_one_role_names_the_role() -> None:
    changed = JOB.replace("<<: *pods\n", "<<: *pods\n      restartPolicy: Never\n")
    assert compare(run(JOB), run(changed)) == [Change("policies", "restartPolicy", "OnFailure", "Never", ("Worker",))]


def test_what_is_added_or_removed_has_one_side() -> None:
    (change,) = compare(run(JOB), run(JOB.replace('                - {name: SEED, value: "1"}\n', "")))
    assert (change.name, change.before, change.after) == ("SEED", "1", None)
    (change,) = compare(run(JOB.replace('                - {name: SEED, value: "1"}\n', "")), run(JOB))
    assert (change.name, change.before, change.after) == ("SEED", None, "1")


def test_the_name_of_the_run_is_no_difference_where_it_stands_for_the_run() -> None:
    renamed = JOB.replace("name: llm\n", "name: llm-2\n").replace("llm-master-0", "llm-2-master-0")
    assert compare(run(JOB), run(renamed)) == []
    assert compare(run(JOB), run(renamed.replace("llm-2-master-0", "llm-master-0"))) != []


def test_an_empty_selector_is_not_an_absent_one() -> None:
    empty = JOB.replace(
        "nodeSelector:", "affinity: {podAffinity: {a: [{key: b, podSelector: {}}]}}\n          nodeSelector:"
    )
    (change,) = compare(run(empty), run(empty.replace(", podSelector: {}", "")))
    assert (change.topic, change.name) == ("placement", "affinity.podAffinity")


def test_the_kind_of_the_job_is_a_difference() -> None:
    master, _, worker = JOB.partition("    Worker:")
    alone = master.replace("PyTorchJob", "JAXJob").replace("pytorchReplicaSpecs", "jaxReplicaSpecs")
    alone = alone.replace("Master:", "Worker:").replace("replicas: 1", "replicas: 4")
    assert worker
    names = {(change.topic, change.name) for change in compare(run(JOB), run(alone))}
    assert ("roles", "kind") in names
    assert not any(topic in ("image", "resources", "volumes", "environment") for topic, _ in names)


def run(text: str) -> Run:
    """Return the run of a manifest."""
    documents, broken = reading.read(Source("job.yaml", text))
    assert not broken
    (found,) = load_project(documents).runs
    return found
