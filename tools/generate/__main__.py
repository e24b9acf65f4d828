"""The generators' command line: `python -m tools.generate [--check] [PART ...]`."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from tests.harness.cluster import progress
from tests.harness.cluster.command import exit_status
from tests.harness.cluster.errors import ClusterError
from tools.generate import (
    architecture_page,
    chart_files,
    chart_parts,
    cli_page,
    component_tables,
    crd_schemas,
    crds,
    doctor_page,
    drift,
    feature_gates,
    metric_names,
    operator_tables,
    plan_page,
    policy_overlays,
    rule_index,
    scale_picture,
    trainer_readme,
    trainer_schema,
    type_tables,
    validator_schemas,
)
from tools.generate.program_options import table as option_tables

ROOT = Path(__file__).parents[2]
SOURCES = ("charts", "schemas", "trainer", chart_parts.LICENSE)

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")


class Part(StrEnum):
    """The parts that can be generated separately."""

    CRDS = "crds"
    SCHEMAS = "schemas"
    TYPES = "types"
    OPERATORS = "operators"
    COMPONENTS = "components"
    GATES = "gates"
    OPTIONS = "options"
    OVERLAYS = "overlays"
    METRICS = "metrics"
    FINDINGS = "findings"
    RULES = "rules"
    TRAINER = "trainer"
    FIELDS = "fields"
    VALUES = "values"
    PARTS = "parts"
    README = "readme"
    PLAN = "plan"
    DOCTOR = "doctor"
    CLI = "cli"
    SCALE = "scale"
    ARCHITECTURE = "architecture"


@dataclass(frozen=True)
class Generator:
    """The title of a part, the patterns of its files, and the function that writes them below a root."""

    title: str
    files: tuple[str, ...]
    write: Callable[[Path], None]


# In the order of their dependencies: schemas are generated from CRDs, and value schemas refer to them.
GENERATORS = {
    Part.CRDS: Generator("CustomResourceDefinitions", crds.FILES, crds.write),
    Part.SCHEMAS: Generator("JSON Schemas of the CRDs", (crd_schemas.FILES,), crd_schemas.write),
    Part.TYPES: Generator("tables of types", (type_tables.FILES,), type_tables.write),
    Part.OPERATORS: Generator("tables of types of other operators", (operator_tables.FILES,), operator_tables.write),
    Part.COMPONENTS: Generator("tables of configurations", (component_tables.FILES,), component_tables.write),
    Part.GATES: Generator("table of feature gates", (feature_gates.FILE,), feature_gates.write),
    Part.OPTIONS: Generator("tables of options of programs", option_tables.FILES, option_tables.write),
    Part.OVERLAYS: Generator("JSON Schemas of policies in part", (policy_overlays.FILES,), policy_overlays.write),
    Part.METRICS: Generator("names of metrics", (metric_names.FILES,), metric_names.write),
    Part.FINDINGS: Generator("JSON Schema of findings", (validator_schemas.FILES,), validator_schemas.write),
    Part.RULES: Generator("index of the rules", (rule_index.FILES,), rule_index.write),
    Part.TRAINER: Generator("JSON Schema of the trainer's fields", (trainer_schema.FILES,), trainer_schema.write),
    Part.VALUES: Generator("value schemas", (chart_files.VALUES_SCHEMAS,), chart_files.write_values_schemas),
    Part.PARTS: Generator("copies of the charts' parts", chart_parts.FILES, chart_parts.write),
    Part.FIELDS: Generator("table of the trainer's fields", (trainer_readme.FILES,), trainer_readme.write),
    Part.README: Generator("chart README files", (chart_files.READMES,), chart_files.write_readmes),
    Part.PLAN: Generator("page of `trainyard plan`", plan_page.FILES, plan_page.write),
    Part.DOCTOR: Generator("page of `trainyard doctor`", doctor_page.FILES, doctor_page.write),
    Part.CLI: Generator("page of the command line", (cli_page.FILES,), cli_page.write),
    Part.SCALE: Generator("picture of the scale", (scale_picture.FILES,), scale_picture.write),
    Part.ARCHITECTURE: Generator("diagrams of the architecture", (architecture_page.FILES,), architecture_page.write),
}
# Their sources are large, so these parts are written only if they are named.
ON_DEMAND = frozenset((Part.OPERATORS, Part.COMPONENTS, Part.GATES, Part.OPTIONS))


def drifts(root: Path, parts: Iterable[Part]) -> list[drift.Drift]:
    """Generate `parts` in a copy of the sources below `root`, and return the files that differ.

    Raises `ClusterError` when a generator fails; `root` is not changed.
    """
    chosen = [generator for part, generator in GENERATORS.items() if part in set(parts)]
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder)
        for name in SOURCES:
            if (root / name).is_file():
                shutil.copyfile(root / name, fresh / name)
            elif (root / name).exists():
                # Other steps compile modules meanwhile: files there come and go.
                shutil.copytree(root / name, fresh / name, ignore=shutil.ignore_patterns("__pycache__"))
        for generator in chosen:
            for pattern in generator.files:
                for stale in fresh.glob(pattern):
                    if not stale.is_dir():
                        stale.unlink()
            with progress.step(generator.title):
                generator.write(fresh)
        return drift.compare(root, fresh, [pattern for generator in chosen for pattern in generator.files])


@app.command()
def generate(
    what: Annotated[list[Part] | None, typer.Argument(help="Parts to generate. Default: all but operators.")] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing. Print a diff and exit with 1 when files differ.")
    ] = False,
    root: Annotated[
        Path, typer.Option(help="Another copy of the repository.", file_okay=False, exists=True, show_default=False)
    ] = ROOT,
) -> None:
    """Write the generated files: CRDs, JSON Schemas, the index of rules, schemas, parts and READMEs of charts."""
    found = drifts(root, what or [part for part in Part if part not in ON_DEMAND])
    if check and found:
        for difference in found:
            for line in difference.diff():
                progress.console.print(_coloured(line))
        names = "\n".join(f"    {difference.path}" for difference in found)
        raise ClusterError(
            f"{len(found)} generated file(s) are not up to date:\n{names}",
            hint="run `make generate` and commit the changes",
        )
    for difference in found:
        difference.resolve(root)
        progress.console.print(f"{'removed' if difference.generated is None else 'wrote'} {difference.path}")


def _coloured(line: str) -> Text:
    return Text(line, style={"+": "green", "-": "red", "@": "cyan"}.get(line[:1], ""))


if __name__ == "__main__":
    sys.exit(exit_status(app))
