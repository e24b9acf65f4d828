"""Files generated from every chart's values.yaml: the JSON Schema of the values, and the README."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.harness.cluster import progress, tools

VALUES_SCHEMAS = "charts/*/values.schema.json"
READMES = "charts/*/README.md"


def charts(root: Path) -> Iterator[Path]:
    """Yield the folders of the charts that have values; a library chart has none."""
    for values in sorted(root.glob("charts/*/values.yaml")):
        yield values.parent


def write_values_schemas(root: Path) -> None:
    """Write values.schema.json as configured in the chart's .schema.yaml."""
    generator = tools.binary("helm-values-schema-json")
    for chart in charts(root):
        progress.run([generator], log=f"schema-{chart.name}", cwd=chart)
        # The generator makes the file readable by its owner only, which git does not restore.
        (chart / "values.schema.json").chmod(0o644)


def write_readmes(root: Path) -> None:
    """Write README.md from README.md.gotmpl and the comments of values.yaml."""
    options = (
        "--chart-search-root",
        ".",
        "--chart-to-generate",
        ".",
        "--sort-values-order",
        "file",
        "--log-level",
        "warning",
    )
    for chart in charts(root):
        progress.run([tools.binary("helm-docs"), *options], log=f"readme-{chart.name}", cwd=chart)
