"""The measured programs, each called as a user would."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.harness.cluster import tools
from tools.generate import crd_schemas

ROOT = Path(__file__).parents[3]
BIN = Path(sys.executable).parent

# Parsing and schema validation without any rule: the cost of PyYAML and jsonschema themselves.
SCHEMA_ONLY = """
import sys, yaml, jsonschema, json
schema = jsonschema.Draft7Validator(json.load(open(sys.argv[1])))
for name in sys.argv[2:]:
    with open(name) as stream:
        for document in yaml.load_all(stream, yaml.CSafeLoader):
            assert schema.is_valid(document)
"""


class Peer(NamedTuple):
    """A measured program: `command` is run with the files as further arguments."""

    name: str
    version: str
    command: Sequence[str]


def trainyard(*options: str) -> Peer:
    """Return our linter with the default rules, or with options such as `--auditor`, which enables the other rules."""
    from trainyard import __version__

    # Like the script that pip installs.
    start = "import sys; from trainyard.__main__ import main; sys.exit(main())"
    return Peer(
        " ".join(("trainyard lint", *options)), __version__, [str(BIN / "python"), "-c", start, "lint", *options]
    )


def kubeconform() -> Peer:
    """Return a schema validator written in Go, with the schemas on disk."""
    location = ROOT / crd_schemas.FOLDER / crd_schemas.FILE_TEMPLATE
    return Peer(
        "kubeconform",
        tools.module_version("kubeconform").removeprefix("v"),
        [str(tools.binary("kubeconform")), "-strict", f"-schema-location={location}"],
    )


def yamllint() -> Peer:
    """Return a YAML linter written in Python."""
    from importlib.metadata import version

    return Peer("yamllint relaxed", version("yamllint"), [str(BIN / "yamllint"), "-d", "relaxed"])


def schema_only() -> Peer:
    """Return PyYAML's C parser with jsonschema, without rules."""
    from importlib.metadata import version

    schema = ROOT / crd_schemas.FOLDER / "kubeflow.org" / "pytorchjob_v1.json"
    name = "PyYAML + jsonschema, no rules"
    return Peer(name, version("jsonschema"), [str(BIN / "python"), "-c", SCHEMA_ONLY, str(schema)])
