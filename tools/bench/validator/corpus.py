"""Files to lint: one training job each, all different, and without findings, so that every linter reads all of it."""

from __future__ import annotations

from pathlib import Path

_JOB = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata:
  name: llm-{number}
  namespace: team-{team}
  labels:
    team: vision-{team}
    kueue.x-k8s.io/queue-name: team-{team}
spec:
  nprocPerNode: "8"
  runPolicy:
    backoffLimit: {backoff}
    cleanPodPolicy: None
  pytorchReplicaSpecs:
    Master:
      replicas: 1
      restartPolicy: OnFailure
      template:
"""

_SPEC = """\
        metadata:
          annotations:
            kueue.x-k8s.io/podset-preferred-topology: example.com/rack
        spec:
          # Pods of one run sit on nodes of their own.
          automountServiceAccountToken: false
          tolerations:
            - key: nvidia.com/gpu
              operator: Exists
          containers:
            - name: pytorch
              image: registry.example.com/team/llm:1.{number}
              command: [torchrun, --rdzv-conf=timeout=600]
              args: [-m, llm.train, --config, /config/run-{number}.yaml, --checkpoint-dir, /checkpoints]
              env:
                - name: NCCL_DEBUG
                  value: WARN
                - name: NCCL_SOCKET_IFNAME
                  value: =eth0
                - name: OMP_NUM_THREADS
                  value: "8"
              ports:
                - name: pytorchjob-port
                  containerPort: 23456
              resources:
                limits:
                  cpu: "64"
                  memory: 512Gi
                  nvidia.com/gpu: 8
                requests:
                  cpu: "64"
                  memory: 512Gi
                  nvidia.com/gpu: 8
              volumeMounts:
                - name: checkpoints
                  mountPath: /checkpoints
                - name: shared-memory
                  mountPath: /dev/shm
          volumes:
            - name: checkpoints
              persistentVolumeClaim:
                claimName: llm-{number}
            - name: shared-memory
              emptyDir:
                medium: Memory
                sizeLimit: 64Gi
"""


def job(number: int) -> str:
    """Return the manifest of a PyTorchJob with one Master and a number of Workers, about 3 kB."""
    head = _JOB.format(number=number, team=number % 17, backoff=4 * (number % 31 + 2))
    spec = _SPEC.format(number=number)
    worker = f"    Worker:\n      replicas: {number % 31 + 1}\n      restartPolicy: OnFailure\n      template:\n"
    return head + spec + worker + spec


def write(folder: Path, count: int) -> list[Path]:
    """Write `count` jobs to one file each."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"job-{number:05}.yaml" for number in range(count)]
    for number, file in enumerate(files):
        file.write_text(job(number), encoding="utf-8")
    return files
