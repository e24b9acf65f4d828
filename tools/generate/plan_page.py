"""The tables and examples of docs/plan.md: what `trainyard plan` knows, prints, and its error for published runs."""

from __future__ import annotations

import json
import re
import shlex
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path

from click.testing import CliRunner

from tools import markdown
from tools.generate import plan_formulas
from tools.generate.example import example
from trainyard.cli.plan import command
from trainyard.commands.plan import estimate, memory, published, tables, timing
from trainyard.commands.plan.published import Published

ROOT = Path(__file__).parents[2]
PAGE, PICTURE = "docs/plan.md", "docs/plan.svg"
FILES = (PAGE, PICTURE)
_METRICS = {
    "tokens_per_gpu": "tokens/s per GPU",
    "step_seconds": "s per step",
    "model_tflops": "model TFLOP/s per GPU",
    "hardware_tflops": "hardware TFLOP/s per GPU",
    "gpu_hours": "GPU hours",
}
_USES = {"calibration": "sets constants", "test": "tests", "later": "tests, added later"}
EXAMPLES = {
    "example": "--nodes 16 --model llama-3-8b --gpu h100-sxm --fabric 8x400 --sequence 8192 --tokens 1T --price 2.5",
    "comparison": "--nodes 16 --model llama-3-8b --gpu h100-sxm --fabric 8x400 --sequence 8192 --tokens 1T --compare",
}
PLOTTED = (
    "--nodes 8 --model llama-3-8b --gpu h100-sxm --fabric ethernet-100g --sequence 8192 --tokens 1T "
    "--micro-batch 1 --global-batch 512"
)
_COLUMNS = ("model", "GPUs", "layout", "stated", "estimated", "error of the speed", "allowed", "use", "source")


def _draw(words: str, path: Path) -> None:
    """Write the picture of a command."""
    arguments = [*shlex.split(words), "--plot", str(path)]
    CliRunner().invoke(command, arguments, standalone_mode=False, catch_exceptions=False)


def _days(nodes: int) -> float:
    """Return the expected days of the plotted run on another number of nodes."""
    words = re.sub(r"--nodes \d+", f"--nodes {nodes}", PLOTTED)
    arguments = [*shlex.split(words), "--output-format", "json"]
    result = CliRunner().invoke(command, arguments, standalone_mode=False, catch_exceptions=False)
    return float(json.loads(result.stdout)["time"]["days"]["expected"])


def _summary(runs: Sequence[Published]) -> Iterator[str]:
    """Yield the errors in words."""
    tests = [run for run in runs if run.use != "calibration"]
    later = [run for run in runs if run.use == "later"]
    sizes = sorted(abs(run.error) for run in tests)
    misses = [run for run in tests if abs(run.error) > run.tolerance]
    inside = [run for run in runs if estimate.BEST <= 1 + run.error / 100 <= estimate.WORST]
    yield (
        f"{len(runs)} runs: {len(runs) - len(tests)} set the constants of the formulas, and {len(tests)} test them. "
        f"Of the tests, the median error is {statistics.median(sizes):.0f} %, and nine of ten are at most "
        f"{sizes[round(0.9 * len(sizes)) - 1]:.0f} %. {len(misses)} exceed the error that was allowed before the "
        f"formulas were written. The median error of the {len(later)} runs that were added later is "
        f"{statistics.median(abs(run.error) for run in later):.0f} %. {len(inside)} of all {len(runs)} runs lie within "
        "the range that the command prints."
    )


def _constants() -> Iterator[str]:
    """Yield what the formulas take as given."""
    yield (
        f"A step takes the time of matrices at {timing.MATRICES} of the best rate of a single matrix, of attention, "
        f"and of reading each activation {timing.PASSES} times at the bandwidth of the memory. Communication for "
        "tensor parallelism adds to it. Gradients and weights are exchanged during the computation: "
        f"{1 - timing.EXPOSED:.0%} of that time is hidden, and what exceeds the computation is not. Calibration "
        f"runs of the table below set these numbers. The reserve of a GPU is {memory.RESERVE / 1e9:g} GB."
    )


def _limits(runs: Sequence[Published]) -> Iterator[str]:
    """Yield the worst run, and the GPUs that none tests."""
    worst = max(runs, key=lambda run: run.error)
    used = {run.gpu for run in runs}
    absent = [f"`{name}`" for name in tables.names("hardware") if name not in used]
    yield (
        f"The worst case is `{worst.shape.name}` with `{worst.layout.strategy}` on {worst.layout.gpus:,} GPUs, which "
        f"was {1 + worst.error / 100:.1f} times slower than estimated: it gathers weights over more than a thousand "
        f"ranks. No published run here tests {', '.join(absent[:-1])} or {absent[-1]}."
    )


def _rows(runs: Sequence[Published]) -> Iterator[Sequence[str]]:
    for run in runs:
        layout = run.layout
        split = "".join(f", {name} {count}" for name in ("tensor", "pipeline") if (count := getattr(layout, name)) > 1)
        missed = abs(run.error) > run.tolerance
        yield (
            run.shape.name,
            f"{layout.gpus} {run.gpu}",
            f"{layout.dtype}, {layout.strategy}{split}",
            f"{run.value:,.4g} {_METRICS[run.metric]}"
            if run.value < 10000
            else f"{run.value:,.0f} {_METRICS[run.metric]}",
            f"{run.estimate:,.4g}" if run.estimate < 10000 else f"{run.estimate:,.0f}",
            f"{'**' if missed else ''}{run.error:+.0f} %{'**' if missed else ''}",
            f"{run.tolerance:.0f} %",
            _USES[run.use],
            _sourced(run.source) + (f"; {run.remark}" if run.remark else ""),
        )


def _sourced(source: str) -> str:
    """Return a source with the names of repositories and files as code."""
    return re.sub(r"(?<![/\w.:-])[\w.-]+/[\w./-]*\w", lambda found: f"`{found[0]}`", source)


def _hardware() -> Iterator[Sequence[str]]:
    for row in tables.rows("hardware"):
        yield (
            f"`{row['name']}`",
            row["bf16"] or row["fp16"],
            row["fp8"] or "none",
            f"{row['memory_gb']} GB, {row['memory_tbps']} TB/s",
            f"{row['link_gbps']} GB/s",
            f"{100 * float(row['matmul']):.0f} %",
            _sourced(row["source"]),
        )


def _fabrics() -> Iterator[Sequence[str]]:
    for row in tables.rows("fabrics"):
        yield f"`{row['name']}`", row["gbps"], f"{100 * float(row['efficiency']):.0f} %", _sourced(row["source"])


def _models() -> Iterator[str]:
    yield ", ".join(f"`{name}`" for name in tables.names("models")) + "."


def write(root: Path) -> None:
    """Write the page below a root, with each section between its markers."""
    text, runs = (ROOT / PAGE).read_text(), published.published_runs()
    for name, words in EXAMPLES.items():
        text = markdown.replace_section(text, name, example(command, words))
    text = markdown.replace_section(text, "summary", _summary(runs))
    text = markdown.replace_section(text, "constants", _constants())
    text = markdown.replace_section(text, "limits", _limits(runs))
    plotted = ("```console", f"trainyard plan {PLOTTED} --plot time.svg", "```")
    text = markdown.replace_section(text, "plotted", plotted)
    text = markdown.replace_section(text, "published", markdown.table(_COLUMNS, _rows(runs)))
    columns: tuple[str, ...] = (
        "name",
        "dense TFLOP/s, 16 bits",
        "FP8",
        "memory",
        "link in the node",
        "best matrix",
        "source",
    )
    text = markdown.replace_section(text, "hardware", markdown.table(columns, _hardware()))
    columns = ("name", "Gbit/s per node", "reached", "source")
    text = markdown.replace_section(text, "fabrics", markdown.table(columns, _fabrics()))
    text = markdown.replace_section(text, "models", _models())
    text = markdown.replace_section(text, "formulas", markdown.table(plan_formulas.COLUMNS, plan_formulas.formulas()))
    sentences = {
        "states": plan_formulas.states(),
        "network": plan_formulas.slow_network({nodes: _days(nodes) for nodes in (1, 2, 4, 8)}),
        "checked": plan_formulas.checked(),
        "history": plan_formulas.history(runs),
        "sums": plan_formulas.sums(),
    }
    for name, lines in sentences.items():
        text = markdown.replace_section(text, name, lines)
    (root / PAGE).parent.mkdir(exist_ok=True)
    (root / PAGE).write_text(text)
    _draw(PLOTTED, root / PICTURE)
