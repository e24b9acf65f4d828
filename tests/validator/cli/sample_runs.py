"""A small training run without faults, and the same run with one fault."""

from __future__ import annotations

CLEAN = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata:
  name: llm
spec:
  pytorchReplicaSpecs:
    Worker:
      replicas: 1
      restartPolicy: OnFailure
      template:
        spec:
          containers:
          - name: pytorch
            image: registry.example.com/team/llm:1.4
            env:
            - name: NCCL_SHM_DISABLE
              value: "0"
"""
FAULTY = CLEAN.replace('"0"', '"no"')
