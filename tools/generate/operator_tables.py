"""Tables of the fields of kinds whose operators no chart here installs: Ray, Volcano, Argo Workflows, KServe and more.

The modules of these operators are large, so `make check` does not compare these tables with them. Pods are left out:
the validator checks them against the table of Kubernetes, which knows more values than a CRD does.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from tests.harness.cluster.modules import source
from tools.generate import crd_schemas, kubernetes_schemas, type_tables
from tools.generate.type_tables import Schema, Table

FOLDER = type_tables.FOLDER / "operators"
FILES = f"{FOLDER}/*.txt"
TOOL = "operators"
# Only kinds that users write. The folder of the tool pins the versions.
MODULES = {
    "github.com/argoproj/argo-workflows/v3": "manifests/base/crds/full/argoproj.io_*work*s.yaml",
    "github.com/kedacore/keda/v2": "config/crd/bases/keda.sh_*.yaml",
    "github.com/kserve/kserve": "config/crd/full/serving.kserve.io_*s.yaml",
    "github.com/project-codeflare/appwrapper": "config/crd/bases/*.yaml",
    "github.com/ray-project/kuberay/ray-operator": "config/crd/bases/*.yaml",
    "sigs.k8s.io/karpenter": "pkg/apis/crds/karpenter.sh_node*.yaml",
    "sigs.k8s.io/lws": "config/crd/bases/*leaderworkersets.yaml",
    "volcano.sh/volcano": "config/crd/volcano/bases/*.yaml",
}
# Written by operators alone.
_INTERNAL = frozenset(("WorkflowArtifactGCTask", "WorkflowTaskResult", "WorkflowTaskSet", "Command", "Numatopology"))
_POD = frozenset(("containers", "initContainers", "nodeSelector", "restartPolicy", "volumes", "tolerations"))
_MORE_THAN_A_POD = frozenset(("model", "minReplicas", "workerSpec"))
# Parameters of Argo Workflows take any scalar: its usual CRDs do not check them. Artifacts get a field in release 4.
_PARAMETER, _LOOSE = frozenset(("default", "globalName", "value")), ("default", "value")
_ARTIFACT = frozenset(("artifactory", "git", "s3"))


def write(root: Path) -> None:
    """Write one table for each API group, and the list of their kinds."""
    folder = root / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    tables = _tables()
    for group, table in tables.items():
        (folder / f"{group}.txt").write_text(table.text(), encoding="utf-8")
    type_tables.write_kinds(folder, tables.values())


def _tables() -> dict[str, Table]:
    tables: dict[str, Table] = {}
    object_meta = kubernetes_schemas.definition(kubernetes_schemas.OBJECT_META)
    for crd in _crds():
        group, kind = crd["spec"]["group"], crd["spec"]["names"]["kind"]
        table = tables.setdefault(group, Table())
        for _, schema in crd_schemas.from_crd(crd, object_meta):
            api_version = schema["properties"]["apiVersion"]["enum"][0]
            whole = type_tables.any_version(_without_pods(schema))
            table.add_root(api_version, kind, type_tables.Crd(table, schema["definitions"]).of(whole, kind))
    return tables


def _crds() -> Iterator[dict[str, Any]]:
    for module, pattern in MODULES.items():
        for file in sorted(source(TOOL, module).glob(pattern)):
            crd = yaml.load(file.read_text(), Loader=yaml.CSafeLoader)
            if crd["spec"]["names"]["kind"] not in _INTERNAL:
                yield crd


def _without_pods(schema: Any) -> Any:
    """Return a schema that accepts any pod."""
    if isinstance(schema, list):
        return [_without_pods(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    properties = schema.get("properties")
    if isinstance(properties, dict):
        if properties.keys() >= _POD and properties.keys().isdisjoint(_MORE_THAN_A_POD):
            return Schema()
        loose = _LOOSE if properties.keys() >= _PARAMETER else {}
        newer = {"plugin": Schema()} if properties.keys() >= _ARTIFACT else {}
        schema = {**schema, "properties": {**properties, **{name: Schema() for name in loose}, **newer}}
    return {key: _without_pods(value) for key, value in schema.items()}
