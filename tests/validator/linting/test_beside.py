"""Files beside a manifest: scripts that its commands start, and configurations that they name."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from trainyard.linting.session import start_session

JOB = """apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  backoffLimit: 3
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: train
          image: registry.example.com/llm/train:1.0
          command: [bash, %s]
          resources: {limits: {memory: 100Gi, nvidia.com/gpu: 1}}
          volumeMounts: [{name: shm, mountPath: /dev/shm}]
      volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 16Gi}}]
"""
SCRIPT = "#!/bin/bash\nset -euo pipefail\nexport NCCL_DEBUG=LOUD\npython train.py\n"
ELSEWHERE = "#!/bin/bash\nset -euo pipefail\npython train.py\n"


def found(*names: Path) -> list[tuple[str, int, str]]:
    """Return the findings in files, as file, line and code."""
    report = start_session(tuple(map(str, names))).lint()
    return [
        (os.path.relpath(one.position.source.name, names[0].parent), one.position.line, one.rule.code)
        for one in report.findings
    ]


@pytest.mark.parametrize(
    ("command", "place"),
    [
        ("/workspace/train.sh", "train.sh"),
        ("./train.sh", "train.sh"),
        ("/workspace/launch/train.sh", "launch/train.sh"),
        ("train.sh", "scripts/train.sh"),
        ('-c, "cd /app && exec bash ./train.sh --epochs 3"', "train.sh"),
    ],
)
def test_a_script_beside_the_job_is_read(tmp_path: Path, command: str, place: str) -> None:
    job, script = tmp_path / "job.yaml", tmp_path / place
    job.write_text(JOB % command)
    script.parent.mkdir(exist_ok=True)
    script.write_text(SCRIPT)
    assert found(job) == [(place, 3, "NC017")]


def test_a_script_is_not_read_if_two_files_may_be_meant(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    for place in ("train.sh", "scripts/train.sh"):
        (tmp_path / place).write_text(SCRIPT)
    job = tmp_path / "job.yaml"
    job.write_text(JOB % "/workspace/train.sh")
    assert found(job) == []


def test_a_script_outside_of_the_folder_is_not_read(tmp_path: Path) -> None:
    folder = tmp_path / "repository"
    folder.mkdir()
    (tmp_path / "train.sh").write_text(SCRIPT)
    (folder / "train.sh").symlink_to(tmp_path / "train.sh")
    job = folder / "job.yaml"
    for path in ("/workspace/train.sh", "../train.sh"):
        job.write_text(JOB % path)
        assert found(job) == []


def test_a_script_of_a_config_map_in_the_files_is_the_one_that_counts(tmp_path: Path) -> None:
    mounted = JOB.replace("volumeMounts: [", "volumeMounts: [{name: code, mountPath: /workspace}, ").replace(
        "volumes: [", "volumes: [{name: code, configMap: {name: code}}, "
    )
    lines = "".join(f"    {line}\n" for line in ELSEWHERE.splitlines())
    config_map = f"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: code}}\ndata:\n  train.sh: |\n{lines}"
    job = tmp_path / "job.yaml"
    (tmp_path / "train.sh").write_text(SCRIPT)
    job.write_text(mounted % "/workspace/train.sh" + config_map)
    assert found(job) == []


def test_environments_in_folders_are_not_mixed_up(tmp_path: Path) -> None:
    """Both have a ConfigMap, and a job that takes a variable from it; one is wrong."""
    job = (JOB % "-c, exit").replace("command:", "envFrom: [{configMapRef: {name: settings}}]\n          command:")
    config_map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {NCCL_DEBUG: %s}\n"
    for name, level in (("dev", "LOUD"), ("prod", "WARN")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "job.yaml").write_text(job)
        (tmp_path / name / "settings.yaml").write_text(config_map % level)
    assert [code for _, _, code in found(tmp_path)] == ["NC017"]


def test_a_job_between_two_environments_refers_to_none_of_them(tmp_path: Path) -> None:
    job = (JOB % "-c, exit").replace("command:", "envFrom: [{configMapRef: {name: settings}}]\n          command:")
    config_map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {NCCL_DEBUG: %s}\n"
    for name, level in (("dev", "LOUD"), ("prod", "SILENT")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "settings.yaml").write_text(config_map % level)
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / "job.yaml").write_text(job)
    assert found(tmp_path) == []


def test_a_job_names_the_deepspeed_configuration_of_its_folder(tmp_path: Path) -> None:
    command = "-c, torchrun --standalone --nproc-per-node=1 train.py --deepspeed=/workspace/ds_config.json"
    for name, total in (("dev", 8), ("prod", 7)):
        (tmp_path / name).mkdir()
        job = (JOB % f'"{command}"').replace('[bash, "-c, ', '[bash, -c, "')
        (tmp_path / name / "job.yaml").write_text(job)
        sizes = {"train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 2, "train_batch_size": total}
        (tmp_path / name / "ds_config.json").write_text(json.dumps(sizes))
    assert [(Path(file).parent.name, code) for file, _, code in found(tmp_path)] == [("prod", "DS001")]


ACCOUNT = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: launcher, namespace: %s}\n"
BINDING = """---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: launcher, namespace: training}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: launcher}
subjects: [{kind: ServiceAccount, name: launcher, namespace: training}]
"""


def test_an_account_of_another_file_may_be_the_one_that_a_binding_names(tmp_path: Path) -> None:
    bound, other = tmp_path / "bound.yaml", tmp_path / "other.yaml"
    bound.write_text(ACCOUNT % "notebooks" + BINDING)
    other.write_text(ACCOUNT % "serving")
    assert found(bound, other) == [("bound.yaml", 9, "RF039")]
    other.write_text(ACCOUNT % "training")
    assert found(bound, other) == []
