"""`trainyard plan`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trainyard.cli.format_option import formats
from trainyard.cli.option_list import option_list
from trainyard.linting.exit_codes import CLEAN, FINDINGS

if TYPE_CHECKING:
    from trainyard.commands.plan.estimate import Plan
    from trainyard.commands.plan.job import Job
    from trainyard.commands.plan.settings import Settings

HELP = """Estimate what a run takes before it starts: GPUs, memory, traffic, time, failures and cost.

The size comes from the values of charts/training-job or from a job's manifest. The GPU comes from the node selector,
and the network from the fabric profile of the run or its site. Options replace all of them. Nothing is downloaded, and
PyTorch is not needed. The output ends with its assumptions. The documentation shows the error for published runs.

\b
  trainyard plan -f run.yaml --model llama-3-8b --gpu h100-sxm
  trainyard plan -f run.yaml --site site.yaml --model llama-3-8b --tokens 1T --price 2.5
  trainyard plan --nodes 16 --model llama-3-70b --gpu h100-sxm --fabric 8x400 --tensor 8
  trainyard plan --nodes 16 --model llama-3-8b --gpu h100-sxm --fabric 8x400 --compare
  trainyard plan --nodes 4 --model mistral-7b --gpu a100-sxm-80gb --fabric 8x200 --plot time.svg
  trainyard plan -f run.yaml --model path/to/config.json --gpu l40s --output-format json

Exit codes: 0 the run fits, 1 a rank needs more memory than its GPU has, 2 wrong usage or files that are refused.
"""
_NUMBER = re.compile(r"(\d+(?:\.\d+)?(?:e\d+)?)([kmbt]?)", re.IGNORECASE)
_FACTORS = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}


class Tokens(click.ParamType[float]):
    """A number of tokens, as `300B`, `1.5T` or `2e12`."""

    name = "tokens"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Returns the number."""
        found = _NUMBER.fullmatch(str(value))
        number = float(found[1]) * _FACTORS[found[2].lower()] if found is not None else 0.0
        if not number or math.isinf(number):
            self.fail(f"`{value}` is not a number of tokens; write it as 300B, 1.5T or 2e12", param, ctx)
        return number


class Amount(click.FloatRange):
    """A finite number: `nan` is in every range, and JSON has neither `nan` nor `inf`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Returns the number."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"`{value}` is not a finite number", param, ctx)
        return number


class Picture(click.Path):
    """A file whose name ends with the format of a picture: another name is that of a file of the user."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Returns the path."""
        path = Path(str(super().convert(value, param, ctx)))
        if path.suffix.lower() not in (".svg", ".png"):
            self.fail(f"`{value}` does not name a picture; write a name that ends with .svg or .png", param, ctx)
        return path


def names_of(module: str, function: str) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """Returns a completion by the names that a function of trainyard.commands.plan knows."""

    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
        import importlib

        known = getattr(importlib.import_module(f"trainyard.commands.plan.{module}"), function)()
        return [name for name in known if name.startswith(incomplete)]

    return complete


_COUNT = click.IntRange(min=1)
_AMOUNT = Amount(min=0, min_open=True)
_OPTIONS = (
    click.option(
        "-f",
        "--values",
        "names",
        multiple=True,
        metavar="FILE",
        type=click.Path(),
        help="Values of charts/training-job, or a job's manifest. Repeatable; the last file of values wins.",
    ),
    click.option(
        "--site", metavar="FILE", type=click.Path(), help="Values of charts/training-platform: its fabric and defaults."
    ),
    click.option(
        "--model",
        metavar="NAME|FILE",
        shell_complete=names_of("shapes", "shape_names"),
        help="Model: a known name, or config.json of Hugging Face. Default: the model of the reference trainer.",
    ),
    click.option("--gpu", metavar="NAME", shell_complete=names_of("hardware", "gpu_names"), help="GPU, as h100-sxm."),
    click.option(
        "--fabric",
        metavar="NAME|PORTSxGBPS",
        shell_complete=names_of("fabrics", "fabric_names"),
        help="Network of a node: a profile such as eks-efa, or ports and Gbit/s, as 8x400.",
    ),
    click.option("--nodes", metavar="N", type=_COUNT, help="Nodes, instead of those of the run."),
    click.option("--gpus-per-node", metavar="N", type=_COUNT, help="GPUs of a node. Default: those of a pod, or 8."),
    click.option("--nodes-per-rack", metavar="N", type=_COUNT, help="Nodes of a rack. Default: 4."),
    click.option(
        "--strategy",
        type=click.Choice(["ddp", "zero1", "zero2", "zero3", "fsdp", "hsdp"]),
        help="Way to spread the state of the model. Default: that of the run, or fsdp.",
    ),
    click.option("--tensor", metavar="N", type=_COUNT, help="Ranks that share each matrix."),
    click.option("--pipeline", metavar="N", type=_COUNT, help="Stages of the pipeline."),
    click.option("--virtual", metavar="N", type=_COUNT, help="Pieces of each stage (interleaved schedule)."),
    click.option("--offload", is_flag=True, help="Keep the state of the optimizer in the host's memory."),
    click.option("--sequence", metavar="N", type=_COUNT, help="Tokens of a sequence."),
    click.option("--micro-batch", metavar="N", type=_COUNT, help="Sequences of a forward pass on a rank."),
    click.option("--global-batch", metavar="N", type=_COUNT, help="Sequences of a step on all ranks."),
    click.option(
        "--recompute", type=click.Choice(["none", "selective", "full"]), help="Activations that are recomputed."
    ),
    click.option(
        "--dtype", type=click.Choice(["bf16", "fp16", "fp8", "tf32", "fp32"]), help="Type of the matrices' numbers."
    ),
    click.option("--tokens", metavar="N", type=Tokens(), help="Tokens of the whole run, as 300B or 1.5T."),
    click.option("--price", metavar="PRICE", type=_AMOUNT, help="Price of a GPU for an hour, in your currency."),
    click.option(
        "--mtbf", "gpu_mtbf_hours", metavar="HOURS", type=_AMOUNT, help="Mean hours between failures of one GPU."
    ),
    click.option("--storage", metavar="GB/S", type=_AMOUNT, help="Gigabytes per second that all nodes write together."),
    click.option("--restart", metavar="MINUTES", type=_AMOUNT, help="Minutes from a failure to the next step."),
    click.option("--compare", is_flag=True, help="Show all strategies side by side."),
    click.option(
        "--plot",
        metavar="FILE.svg|FILE.png",
        type=Picture(dir_okay=False),
        help="Write a picture of the days by nodes.",
    ),
    formats,
)


@click.command(name="plan", help=HELP)
@click.argument("files", nargs=-1, metavar="", type=click.Path())
@option_list(*_OPTIONS)
def command(
    files: tuple[str, ...],
    names: tuple[str, ...],
    site: str | None,
    compare: bool,
    plot: Path | None,
    output: str,
    storage: float | None,
    restart: float | None,
    **options: Any,
) -> int:
    """Plans the run and prints the plan."""
    if files:
        raise click.UsageError(f"name the run with -f: `trainyard plan -f {' -f '.join((*names, *files))}`")
    from trainyard.commands.plan import estimate, settings

    job = _job(names, site)
    given = settings.Given(
        storage=None if storage is None else storage * 1e9, restart=None if restart is None else restart * 60, **options
    )
    chosen = settings.settings(given, job)
    made = estimate.plan(chosen.shape, chosen.layout, chosen.gpu, chosen.fabric, chosen.conditions)
    if plot is not None:
        _draw(made, plot)
    plans = list(estimate.alternatives(made)) if compare else []
    _print(made, plans, chosen, job, output)
    fits = any(plan.fits for plan in plans) if compare else made.fits
    return CLEAN if fits else FINDINGS


def _job(names: tuple[str, ...], site: str | None) -> Job | None:
    from trainyard.commands.plan.job import read_job
    from trainyard.loaders.site.loading import load_site

    known = load_site(site) if site is not None else None
    return read_job(names, known) if names else None


def _draw(plan: Plan, path: Path) -> None:
    from trainyard.commands.plan import estimate, plot
    from trainyard.document.opening import reason

    try:
        svg = plot.picture(list(estimate.on_nodes(plan)))
        path.write_bytes(plot.as_png(svg) if path.suffix.lower() == ".png" else svg.encode())
    except OSError as error:
        raise click.ClickException(f"--plot {path}: it cannot be written: {reason(error)}") from None


def _print(plan: Plan, plans: list[Plan], settings: Settings, job: Job | None, output: str) -> None:
    from trainyard.commands.plan import report

    if output == "text":
        click.echo(report.comparison(plans) if plans else report.text(plan, settings, job), nl=False)
        return
    import json

    found = [report.tree(one, settings, job) for one in plans] if plans else report.tree(plan, settings, job)
    click.echo(json.dumps(found, indent=2))
