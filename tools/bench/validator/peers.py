"""The programs that are measured, each as a user would call it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.cluster import tools
from tests.generate import crd_schemas

ROOT = Path(__file__).parents[3]
BIN = Path(sys.executable).parent

# Parsing alone, with a schema and without any rule: what PyYAML and jsonschema cost by themselves.
SCHEMA_ONLY = """
import sys, yaml, jsonschema, json
schema = jsonschema.Draft7Validator(json.load(open(sys.argv[1])))
for name in sys.argv[2:]:
    with open(name) as stream:
        for document in yaml.load_all(stream, yaml.CSafeLoader):
            assert schema.is_valid(document)
"""


class Peer(NamedTuple):
    """A program under measurement: `command` is what is run with the files behind it."""

    name: str
    version: str
    command: Sequence[str]


def trainyard(*options: str) -> Peer:
    """Ours, with all rules that are on by default, or with options such as `--auditor`, which turns on the others."""
    from validator import __version__

    # As the script does that pip installs.
    start = "import sys; from validator.__main__ import main; sys.exit(main())"
    return Peer(
        " ".join(("trainyard lint", *options)), __version__, [str(BIN / "python"), "-c", start, "lint", *options]
    )


def kubeconform() -> Peer:
    """A schema check in Go, with the schemas on disk."""
    location = ROOT / crd_schemas.FOLDER / crd_schemas.FILE_TEMPLATE
    return Peer(
        "kubeconform",
        tools.module_version("kubeconform").removeprefix("v"),
        [str(tools.binary("kubeconform")), f"-schema-location={location}"],
    )


def yamllint() -> Peer:
    """A linter of YAML in Python."""
    from importlib.metadata import version

    return Peer("yamllint relaxed", version("yamllint"), [str(BIN / "yamllint"), "-d", "relaxed"])


def schema_only() -> Peer:
    """PyYAML's C parser and jsonschema, no rules."""
    from importlib.metadata import version

    schema = ROOT / crd_schemas.FOLDER / "kubeflow.org" / "pytorchjob_v1.json"
    name = "PyYAML + jsonschema, no rules"
    return Peer(name, version("jsonschema"), [str(BIN / "python"), "-c", SCHEMA_ONLY, str(schema)])
