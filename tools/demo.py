"""`make demo`: create a cluster, install the platform, train on two nodes over a second network, and resume the run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from tests.harness.cluster import api, lifecycle, progress, rails, tools
from tests.harness.cluster.cluster import DEFAULT_NAME, Cluster
from tests.harness.cluster.command import exit_status
from tests.harness.cluster.engine import Engine
from tests.harness.jobs import checkpoint, namespace, networks, operator, platform
from tests.harness.jobs.helm import Helm, Settings
from tests.harness.jobs.run import Run

NAMESPACE = "demo"
RELEASE = "digits"
MORE_EPOCHS = 5
COMMANDS = Path("build/bin").resolve()
RUN_VALUES = Path("build/site-run.yaml").resolve()
COLOURS = ("cyan", "magenta", "yellow", "blue")

output = Console(highlight=False, soft_wrap=True)


def say(title: str) -> None:
    """Announce a part of the demo."""
    output.print(f"\n[bold]{title}[/]")


def show(command: str) -> None:
    """Show a command as a user would type it; the demo adds the images that it has built."""
    output.print(f"[dim]$ {escape(command)}[/]")


def shown(file: Path) -> str:
    """A file's path as a user here would type it."""
    return str(file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file)


def on_line(pod: str, line: str) -> None:
    """Print a line of a pod's log, each pod in a colour of its own."""
    colour = COLOURS[sum(pod.encode()) % len(COLOURS)]
    output.print(f"[{colour}]{pod}[/] {escape(line)}")


def prepare(cluster: Cluster, engine: Engine, rail: str) -> None:
    """Install the platform, and write down what it says that a run needs."""
    command = f"helm install {platform.RELEASE} charts/{platform.CHART}"
    show(f"{command} --namespace {platform.NAMESPACE} --create-namespace --wait -f {shown(platform.SITE)}")
    settings = {**platform.images(cluster, engine), "networks.networks[0].master": rail}
    with progress.step("waiting for the operator, and for Multus on every node"):
        # On a cluster of an earlier demo the operator is a release of its own.
        Helm(cluster.kubeconfig).uninstall(operator.RELEASE, namespace=operator.NAMESPACE)
        platform.install(cluster, settings=settings, options=["--take-ownership"])
    kept = f"kubectl get configmap {platform.RUN_VALUES} --namespace {platform.NAMESPACE}"
    show(f"{kept} -o jsonpath='{{.data.run\\.yaml}}' > {shown(RUN_VALUES)}")
    platform.write_run_values(cluster, RUN_VALUES)


def train(run: Run, settings: Settings, values: list[Path]) -> None:
    """Install the release, stream its log until it has succeeded, and leave nothing behind when it does not."""
    kept_claim = _claim_exists(run)
    try:
        files = "".join(f" -f {shown(file)}" for file in values)
        show(f"helm install {run.release} charts/training-job --namespace {run.namespace}{files}")
        run.install(settings=settings, values=values)
        outcome = run.follow(on_line=on_line)
        run.require_success(outcome)
    except BaseException:
        run.uninstall()
        if not kept_claim:
            api.kubectl(run.cluster.kubeconfig, "delete", "pvc", run.claim, "-n", run.namespace, "--ignore-not-found")
        raise
    placed = ", ".join(f"{pod} on {node}" for pod, node in sorted(outcome.nodes.items()))
    output.print(f"[green]succeeded[/] in {outcome.seconds:.0f} s: {placed}")


def prove(run: Run, sent: int) -> None:
    """Print the addresses of the pods on the second network, and the traffic between the nodes."""
    given = networks.addresses(api.connect(run.cluster.kubeconfig), run.namespace, run.selector)
    placed = ", ".join(f"{pod} {address}" for pod, address in sorted(given.items())) or "no pod"
    output.print(f"net1: {placed}; {sent / 2**20:.1f} MiB sent between the nodes")


def demo(cluster: Cluster, values: list[Path]) -> None:
    """Run the whole demo."""
    say("1. Create a kind cluster: 1 control plane, 2 workers, and a second network between them")
    engine = lifecycle.up(cluster)
    rail = rails.add(cluster, engine)
    say("2. Install the platform (charts/training-platform): the training operator, Multus, and a network for pods")
    prepare(cluster, engine, rail)
    run = Run(cluster, engine, NAMESPACE, RELEASE)
    say("3. Train on two nodes over the second network (charts/training-job)")
    namespace.delete(cluster.kubeconfig, NAMESPACE)
    namespace.create(cluster.kubeconfig, NAMESPACE)
    before = rails.sent(cluster, engine, rail)
    train(run, {}, [RUN_VALUES, *values])
    prove(run, sum(rails.sent(cluster, engine, rail).values()) - sum(before.values()))
    if values:
        _finish(run)
        return
    say("4. Read the checkpoint from the shared volume, in a third pod")
    output.print(checkpoint.read(cluster.kubeconfig, NAMESPACE, run.claim, run.image()))
    say(f"5. Install the same release again, up to epoch {MORE_EPOCHS}: it resumes from the last checkpoint")
    show(f"helm uninstall {run.release} --namespace {run.namespace}")
    run.uninstall()
    train(run, {"train.args": ["--epochs", str(MORE_EPOCHS), "--checkpoint-dir", "/checkpoints"]}, [RUN_VALUES])
    _finish(run)


def _finish(run: Run) -> None:
    show(f"helm uninstall {run.release} --namespace {run.namespace}")
    run.uninstall()
    output.print("The pods, Services and ConfigMaps of the run are gone; its checkpoints stay.")
    tools.link(COMMANDS, ("helm", "kubectl"))
    say("Try it yourself")
    for command in (
        f"export KUBECONFIG={run.cluster.kubeconfig} PATH={COMMANDS}:$PATH",
        "kubectl get nodes",
        "make down    # removes the cluster",
    ):
        output.print(f"  {escape(command)}")


def _claim_exists(run: Run) -> bool:
    connection = api.connect(run.cluster.kubeconfig)
    return api.find(connection, "v1", "PersistentVolumeClaim", run.claim, run.namespace) is not None


def command(
    name: Annotated[str, typer.Option(help="The cluster's name.")] = DEFAULT_NAME,
    values: Annotated[
        list[Path] | None, typer.Option(exists=True, dir_okay=False, help="Values file for the run. Repeatable.")
    ] = None,
) -> None:
    """Train on a real kind cluster, with the platform of a site and one release per run."""
    demo(Cluster(name), values or [])


if __name__ == "__main__":
    sys.exit(exit_status(lambda: typer.run(command)))
