"""The harness's command line: `python -m tests.harness up|status|load|down|tools|images`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from tests.harness.cluster import api, lifecycle, loading, progress, tools
from tests.harness.cluster.cluster import DEFAULT_NAME, Cluster
from tests.harness.cluster.command import exit_status
from tests.harness.cluster.errors import ClusterError

HELP = """Create local Kubernetes clusters (kind) to try the charts and the trainer.

Where no container registry answers, binaries and images are built from package registries. The first `up` on a machine
then takes up to half an hour. The results are cached, and later clusters take about a minute.
"""

app = typer.Typer(help=HELP, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode="rich")
Name = Annotated[str, typer.Option("--name", help="The cluster's name: letters, digits and dashes, at most 30.")]


@app.command()
def up(
    name: Name = DEFAULT_NAME,
    api_port: Annotated[int, typer.Option(help="Port of the Kubernetes API on 127.0.0.1; 0 picks a free one.")] = 0,
    install: Annotated[bool, typer.Option(help="Install missing Debian packages when run as root.")] = True,
    renew: Annotated[
        bool,
        typer.Option("--renew", help="Replace a cluster that does not come back. Everything on it is lost."),
    ] = False,
) -> None:
    """Create a cluster with 1 control plane and 2 workers, or start an existing one."""
    cluster = Cluster(name)
    lifecycle.up(cluster, api_port=api_port, install=install, renew=renew)
    print(f"export KUBECONFIG={cluster.kubeconfig}")


@app.command()
def status(name: Name = DEFAULT_NAME) -> None:
    """Show the nodes of a cluster. Exits with 1 unless the cluster is Ready."""
    cluster = Cluster(name)
    engine = lifecycle.require_running(cluster)
    states = cluster.states(engine)
    table = Table("node", "container", title=f"cluster {name} on {engine.command}", title_justify="left")
    for node in cluster.node_names:
        table.add_row(node, states.get(node, "missing"))
    progress.console.print(table)
    running = all(states.get(node) == "running" for node in cluster.node_names)
    if not (running and api.is_ready(cluster.kubeconfig, len(cluster.node_names))):
        raise ClusterError(f"cluster {name!r} is not Ready", hint=f"python -m tests.harness up --name {name}")
    print(f"export KUBECONFIG={cluster.kubeconfig}")


@app.command()
def load(
    images: Annotated[
        list[str], typer.Argument(help=f"`{'`, `'.join(loading.OURS)}`, an image archive, or a reference.")
    ],
    name: Name = DEFAULT_NAME,
) -> None:
    """Load images into the worker nodes and print their references."""
    cluster = Cluster(name)
    engine = lifecycle.require_running(cluster)
    with cluster.locked():
        for image in images:
            print(loading.load(cluster, engine, image))


@app.command()
def down(name: Name = DEFAULT_NAME) -> None:
    """Remove a cluster. Binaries and images stay in the cache."""
    cluster = Cluster(name)
    with progress.step(f"removing cluster {name}"):
        found = lifecycle.down(cluster)
    if not found:
        progress.console.print(f"there was no cluster {name}")


@app.command(name="tools")
def link_tools(folder: Annotated[Path, typer.Argument(help="Folder for the links.")] = Path("build/bin")) -> None:
    """Build the developer tools (Helm, kubectl, kubeconform, …) and link them into a folder."""
    tools.link(folder)


@app.command()
def images() -> None:
    """Build the images that tests load, once."""
    loading.build_all()


if __name__ == "__main__":
    sys.exit(exit_status(app))
