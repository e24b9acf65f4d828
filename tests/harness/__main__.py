"""The harness's command line: `python -m tests.cluster up|status|load|down|tools`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from . import api, lifecycle, loading, progress, tools
from .cluster import DEFAULT_NAME, Cluster
from .command import exit_status
from .errors import ClusterError

HELP = """Kubernetes clusters for trying charts and trainer: kind, built from package registries where no container
registry answers.

The first `up` on a machine builds its binaries and images, which takes up to half an hour; they are kept, and later
clusters take about a minute.
"""

app = typer.Typer(help=HELP, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode="rich")
Name = Annotated[str, typer.Option("--name", help="The cluster's name: letters, digits and dashes, at most 30.")]


@app.command()
def up(
    name: Name = DEFAULT_NAME,
    api_port: Annotated[int, typer.Option(help="Port of the Kubernetes API on 127.0.0.1; 0 takes a free one.")] = 0,
    install: Annotated[bool, typer.Option(help="Install missing Debian packages when run as root.")] = True,
    renew: Annotated[
        bool,
        typer.Option(
            "--renew", help="Remove a cluster that does not come back, with all that it holds, and create it anew."
        ),
    ] = False,
) -> None:
    """Create a cluster with 1 control plane and 2 workers, or make sure that it runs."""
    cluster = Cluster(name)
    lifecycle.up(cluster, api_port=api_port, install=install, renew=renew)
    print(f"export KUBECONFIG={cluster.kubeconfig}")


@app.command()
def status(name: Name = DEFAULT_NAME) -> None:
    """Show a cluster's nodes; exit 1 when it is not up and Ready."""
    cluster = Cluster(name)
    engine = lifecycle.require_running(cluster)
    states = cluster.states(engine)
    table = Table("node", "container", title=f"cluster {name} on {engine.command}", title_justify="left")
    for node in cluster.node_names:
        table.add_row(node, states.get(node, "missing"))
    progress.console.print(table)
    running = all(states.get(node) == "running" for node in cluster.node_names)
    if not (running and api.is_ready(cluster.kubeconfig, len(cluster.node_names))):
        raise ClusterError(f"cluster {name!r} is not Ready", hint=f"python -m tests.cluster up --name {name}")
    print(f"export KUBECONFIG={cluster.kubeconfig}")


@app.command()
def load(
    images: Annotated[list[str], typer.Argument(help=f"{', '.join(loading.OURS)}, an image archive, or a reference.")],
    name: Name = DEFAULT_NAME,
) -> None:
    """Load images into the worker nodes and print the reference of each."""
    cluster = Cluster(name)
    engine = lifecycle.require_running(cluster)
    with cluster.locked():
        for image in images:
            print(loading.load(cluster, engine, image))


@app.command()
def down(name: Name = DEFAULT_NAME) -> None:
    """Remove a cluster with everything that `up` made for it; binaries and images stay in the cache."""
    cluster = Cluster(name)
    with progress.step(f"removing cluster {name}"):
        found = lifecycle.down(cluster)
    if not found:
        progress.console.print(f"there was no cluster {name}")


@app.command(name="tools")
def link_tools(folder: Annotated[Path, typer.Argument(help="Folder for the links.")] = Path("build/bin")) -> None:
    """Build the developer's tools (helm, kubectl, kubeconform, …) and link them into a folder."""
    tools.link(folder)


if __name__ == "__main__":
    sys.exit(exit_status(app))
