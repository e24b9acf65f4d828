"""What is generated from the values.yaml of every chart: the schema that refuses wrong values, and the README."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.cluster import progress, tools

VALUES_SCHEMAS = "charts/*/values.schema.json"
READMES = "charts/*/README.md"


def charts(root: Path) -> Iterator[Path]:
    """Folders of the charts that have values; a library chart has none."""
    for values in sorted(root.glob("charts/*/values.yaml")):
        yield values.parent


def write_values_schemas(root: Path) -> None:
    """Write values.schema.json by the chart's .schema.yaml."""
    generator = tools.binary("helm-values-schema-json")
    for chart in charts(root):
        progress.run([generator], log=f"schema-{chart.name}", cwd=chart)
        # The generator makes it readable to its owner alone, and git would not bring that back.
        (chart / "values.schema.json").chmod(0o644)


def write_readmes(root: Path) -> None:
    """Write README.md from README.md.gotmpl and the comments of values.yaml."""
    options = ("--chart-search-root", ".", "--sort-values-order", "file", "--log-level", "warning")
    for chart in charts(root):
        progress.run([tools.binary("helm-docs"), *options], log=f"readme-{chart.name}", cwd=chart)
