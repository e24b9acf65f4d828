"""The judge of conversions: it passes over form, and sees each change of what a run means."""

from __future__ import annotations

import pytest

from tests.validator.convert.meaning import differences
from trainyard.document import reading
from trainyard.document.source import Source
from trainyard.loaders.manifests.manifest import load_project
from trainyard.model.run import Run

JOB = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: llm}
spec:
  nprocPerNode: "8"
  runPolicy: {backoffLimit: 4}
  pytorchReplicaSpecs:
    Worker:
      replicas: 4
      restartPolicy: OnFailure
      template:
        spec:
          nodeSelector: {pool: a}
          containers:
            - name: pytorch
              image: registry.example.com/llm:1
              command: [torchrun, --nnodes=4, --rdzv-endpoint=llm-worker-0:29400, --tee=3, train.py]
              env:
                - {name: A, value: "1"}
                - {name: B, value: $(A)/x}
              resources: {limits: {cpu: 8, nvidia.com/gpu: 8}}
              volumeMounts: [{name: data, mountPath: /data}]
          volumes: [{name: data, persistentVolumeClaim: {claimName: corpus}}]
"""
SAME = [
    ("name: data", "name: corpus"),
    ("cpu: 8,", 'cpu: "8",'),
    ("--nnodes=4, ", ""),
    ("torchrun, ", "python, -m, torch.distributed.run, "),
]
OTHER = [
    ("replicas: 4", "replicas: 5", "nodes"),
    ('"8"\n', '"4"\n', "processes"),
    ("backoffLimit: 4", "backoffLimit: 5", "policy.backoffLimit"),
    ("pool: a", "pool: b", "Worker.pod.nodeSelector"),
    ("llm:1", "llm:2", "Worker.image"),
    ("--tee=3, ", "", "Worker.torchrun.options"),
    ("train.py", "other.py", "Worker.torchrun.program"),
    ("--nnodes=4", "--nnodes=3", "Worker.torchrun.nnodes"),
    ("llm-worker-0:", "etcd:", "Worker.torchrun.host"),
    ("$(A)/x", "$$(A)/x", "Worker.env.B"),
    ('value: "1"', 'value: "2"', "Worker.env.A"),
    ("cpu: 8,", "cpu: 9,", "Worker.limit.cpu"),
    ("cpu: 8,", "", "Worker.request.cpu"),
    ("claimName: corpus", "claimName: other", "Worker.mount./data"),
    ("mountPath: /data}", "mountPath: /data, readOnly: true}", "Worker.mount./data"),
    ("mountPath: /data}", "mountPath: /data, subPath: a}", "Worker.mount./data"),
    ("OnFailure", "Never", "Worker.restartPolicy"),
    ("image: registry", "workingDir: /x\n              image: registry", "Worker.field.workingDir"),
    ("nodeSelector:", "hostIPC: true\n          nodeSelector:", "Worker.pod.hostIPC"),
    ("nodeSelector:", "securityContext: {runAsUser: 1}\n          nodeSelector:", "Worker.security.runAsUser"),
]


@pytest.mark.parametrize(("old", "new"), SAME)
def test_another_form_is_no_difference(old: str, new: str) -> None:
    assert differences(_run(JOB), _run(JOB.replace(old, new))) == []


@pytest.mark.parametrize(("old", "new", "name"), OTHER)
def test_another_meaning_is_a_difference(old: str, new: str, name: str) -> None:
    assert old in JOB
    assert name in [found for found, _, _ in differences(_run(JOB), _run(JOB.replace(old, new)))]


def _run(text: str) -> Run:
    documents, broken = reading.read(Source("job.yaml", text))
    assert not broken
    (run,) = load_project(documents).runs
    return run
