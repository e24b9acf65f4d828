"""The table of the feature gates that the pinned Kubernetes knows, with their stages in earlier releases.

`kubernetes.former.txt` beside it is written by hand. When the pin moves, the gates that this table loses belong there:
`python -m tools.generate gates` prints the difference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import yaml

from tests.harness.cluster.modules import source

FILE = "validator/trainyard/facts/gates/kubernetes.txt"
_TOOL = "kubernetes"
_LIST = "test/compatibility_lifecycle/reference/versioned_feature_list.yaml"
_OF_CLIENTS = "features/known_features.go"
_GATE = re.compile(r"^\t(\w+): \{\n((?:\t\t\{.*\},\n)+)\t\}", re.MULTILINE)
_STAGE = re.compile(r'MustParse\("([\d.]+)"\), Default: (true|false), PreRelease: (\w+)(, LockToDefault: true)?')
_HEADER = f"""\
# Written by `python -m tools.generate gates`.
# Sources: k8s.io/kubernetes {_LIST}
# and k8s.io/client-go {_OF_CLIENTS}, of the pinned release.
"""


def write(root: Path) -> None:
    """Write the table."""
    kubernetes = source(_TOOL, "k8s.io/kubernetes")
    clients = source(_TOOL, "k8s.io/client-go") / _OF_CLIENTS
    gates = dict(_of_list(kubernetes / _LIST)) | dict(_of_clients(clients.read_text(encoding="utf-8")))
    lines = "".join(f"{name}\t{', '.join(stages)}\n" for name, stages in sorted(gates.items()))
    path = root / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{_HEADER}@ {kubernetes.name.partition('@v')[2]}\n{lines}", encoding="utf-8")


def _of_list(path: Path) -> Iterator[tuple[str, list[str]]]:
    for gate in yaml.safe_load(path.read_text(encoding="utf-8")):
        yield (
            gate["name"],
            [
                _stage(spec["version"], spec["preRelease"], is_on=spec["default"], is_locked=spec["lockToDefault"])
                for spec in gate["versionedSpecs"]
            ],
        )


def _of_clients(text: str) -> Iterator[tuple[str, list[str]]]:
    for name, body in _GATE.findall(text):
        yield (
            name,
            [
                _stage(version, stage, is_on=default == "true", is_locked=bool(lock))
                for version, default, stage, lock in _STAGE.findall(body)
            ],
        )


def _stage(version: str, stage: str, *, is_on: bool, is_locked: bool) -> str:
    return f"{version} {stage.lower() or 'ga'} {'on' if is_on else 'off'}{' locked' if is_locked else ''}"
