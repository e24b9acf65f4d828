"""Files of ConfigMaps that a container mounts."""

from __future__ import annotations

import pytest

from trainyard.analysis.pods.mounted_files import mounted_text
from trainyard.document.reading import read
from trainyard.document.source import Source
from trainyard.engine.rule import Context, Target
from trainyard.loaders.manifests.manifest import load_project

HOSTS = """\
---
apiVersion: v1
kind: ConfigMap
metadata: {name: hosts}
data: {hostfile: "llm-0 slots=8"}
"""
POD = """\
---
apiVersion: v1
kind: Pod
metadata: {name: llm}
spec:
  containers:
    - {name: llm, image: example.com/llm:1, volumeMounts: [{name: job, mountPath: /job}]}
  volumes: [{name: job, configMap: {name: hosts}}]
"""


@pytest.mark.parametrize(
    ("environments", "shown"),
    [([], None), (["prod"], "llm-0 slots=8"), (["dev", "prod"], None)],
    ids=["absent", "one", "of which it is not clear which one"],
)
def test_a_file_is_shown_if_one_config_map_fits(environments: list[str], shown: str | None) -> None:
    documents, _ = read(Source("base/pod.yaml", POD))
    for name in environments:
        documents += read(Source(f"environments/{name}/hosts.yaml", HOSTS))[0]
    project = load_project(tuple(documents))
    (run,) = project.runs
    (role,) = run.roles
    context = Context(project, Target(), None).of_run(run, None).of_role(role)
    assert role.container is not None
    found = mounted_text("/job/hostfile", role.container, context)
    assert (found[0] if found is not None else None) == shown
