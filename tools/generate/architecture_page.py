"""The diagrams of docs/architecture.md, from the metadata of the charts and the layers of the validator."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path

import yaml

from tools import markdown

ROOT = Path(__file__).parents[2]
FILES = "docs/architecture.md"
CHARTS = ROOT / "charts"
PLATFORM, RUN, OPERATORS = "training-platform", "training-job", ("training-operator", "kubeflow-trainer")
# The ways between the parts, which no file states: who reads, creates and starts what.
FLOWS = """\
lint -. reads .-> site & run
site -- helm install --> training-platform
run -- helm install --> training-job
values -- "-f" --> training-job
training-operator & kubeflow-trainer -- creates its pods --> job
job --> rank & others
rank <-- collectives --> others
rank & others -- save and resume --> checkpoints"""


def diagram() -> Iterator[str]:
    """Yield the lines of a flowchart: each chart stands in the release to which it belongs."""
    parts = _parts()
    alone = [name for name in _charts() if name not in (PLATFORM, RUN, *parts)]
    yield from ("```mermaid", "flowchart TB")
    yield from _group(
        "git", "Git and CI", ["site[site.yaml]", 'lint(["trainyard lint, fix"])', "run[run.yaml]"], direction="LR"
    )
    others = "<br>".join(name for name in parts if name not in OPERATORS)
    yield from _group(
        PLATFORM,
        f"{PLATFORM}: one release per cluster",
        [*(f"{name}[{name}]" for name in OPERATORS), f'parts["{others}"]', 'values[("values of all runs")]'],
    )
    for name in alone:
        yield f"  {name}[{name}]"
    pods = ('rank["pod 0: torchrun, supervisor, rank"]', 'others["pods 1, 2, ..."]')
    yield from _group(RUN, f"{RUN}: one release per run", [f'job["{_kinds()}"]', *pods])
    yield '  checkpoints[("checkpoints: a volume that outlives pods and releases")]'
    yield from (f"  {line}" for line in FLOWS.splitlines())
    yield f"  {' & '.join(alone)} -- measures the nodes before a run --> training-job"
    yield "```"


def layers() -> Iterator[str]:
    """Yield the lines of a flowchart with the layers of the validator, as import-linter checks them."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (found,) = (one["layers"] for one in contracts if one.get("containers") == ["trainyard"])
    yield from ("```mermaid", "flowchart TB")
    rows = [row.replace(" |", ",") for row in found if row != "__main__"]
    yield from (f'  layer{number}["{row}"]' for number, row in enumerate(rows))
    yield "  " + " --> ".join(f"layer{number}" for number in range(len(rows)))
    yield "```"


def _group(name: str, title: str, members: list[str], direction: str = "") -> Iterator[str]:
    yield f'  subgraph {name}["{title}"]'
    if direction:
        yield f"    direction {direction}"
    yield from (f"    {member}" for member in members)
    yield "  end"


def _charts() -> list[str]:
    return sorted(path.parent.name for path in CHARTS.glob("*/values.yaml"))


def _parts() -> list[str]:
    """Returns the charts that the platform installs."""
    listed = yaml.safe_load((CHARTS / PLATFORM / "Chart.yaml").read_text())["dependencies"]
    return [one["name"] for one in listed if "condition" in one]


def _kinds() -> str:
    schema = json.loads((CHARTS / RUN / "values.schema.json").read_text())
    return "job: " + ", ".join(schema["properties"]["kind"]["enum"])


def write(root: Path) -> None:
    """Write the page below a root, with both diagrams between their markers."""
    text = markdown.replace_section((ROOT / FILES).read_text(), "parts", diagram())
    text = markdown.replace_section(text, "layers", layers())
    (root / FILES).parent.mkdir(exist_ok=True, parents=True)
    (root / FILES).write_text(text)
