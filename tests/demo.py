"""`make demo`: a cluster, the operator, one training run on two nodes, and the same run resumed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from tests.cluster import api, lifecycle, progress, tools
from tests.cluster.cluster import DEFAULT_NAME, Cluster
from tests.cluster.command import exit_status
from tests.jobs import checkpoint, namespace, operator
from tests.jobs.helm import Settings
from tests.jobs.run import Run

NAMESPACE = "demo"
RELEASE = "digits"
MORE_EPOCHS = 5
COMMANDS = Path("build/bin").resolve()
COLOURS = ("cyan", "magenta", "yellow", "blue")

output = Console(highlight=False, soft_wrap=True)


def say(title: str) -> None:
    """Announce a part of the demo."""
    output.print(f"\n[bold]{title}[/]")


def show(command: str) -> None:
    """Show a command as a user would type it; the demo adds the images that it has built."""
    output.print(f"[dim]$ {escape(command)}[/]")


def on_line(pod: str, line: str) -> None:
    """Print a line of a pod's log, each pod in a colour of its own."""
    colour = COLOURS[sum(pod.encode()) % len(COLOURS)]
    output.print(f"[{colour}]{pod}[/] {escape(line)}")


def train(run: Run, settings: Settings, values: list[Path]) -> None:
    """Install the release, stream its log until it has succeeded, and leave nothing behind when it does not."""
    kept_claim = _claim_exists(run)
    try:
        show(f"helm install {run.release} charts/training-job --namespace {run.namespace}")
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


def demo(cluster: Cluster, values: list[Path]) -> None:
    """Run the whole demo."""
    say("1. A kind cluster: 1 control plane, 2 workers")
    engine = lifecycle.up(cluster)
    say("2. The training operator, from charts/training-operator")
    show(
        f"helm install {operator.RELEASE} charts/training-operator --namespace {operator.NAMESPACE} --create-namespace"
    )
    with progress.step("waiting for the operator to be Available"):
        operator.install(cluster, engine)
    run = Run(cluster, engine, NAMESPACE, RELEASE)
    say("3. A training run on two nodes, from charts/training-job")
    namespace.delete(cluster.kubeconfig, NAMESPACE)
    namespace.create(cluster.kubeconfig, NAMESPACE)
    train(run, {}, values)
    if values:
        _finish(run)
        return
    say("4. The checkpoint, read by a third pod from the shared volume")
    output.print(checkpoint.read(cluster.kubeconfig, NAMESPACE, run.claim, run.image()))
    say(f"5. The same release again, up to epoch {MORE_EPOCHS}: it resumes where the first run ended")
    show(f"helm uninstall {run.release} --namespace {run.namespace}")
    run.uninstall()
    train(run, {"train.args": ["--epochs", str(MORE_EPOCHS), "--checkpoint-dir", "/checkpoints"]}, [])
    _finish(run)


def _finish(run: Run) -> None:
    show(f"helm uninstall {run.release} --namespace {run.namespace}")
    run.uninstall()
    output.print("No pod, Service or ConfigMap of the run is left; its checkpoints are.")
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
        list[Path] | None, typer.Option(exists=True, dir_okay=False, help="Values file for the run; may be repeated.")
    ] = None,
) -> None:
    """Train on a real cluster: kind, the training operator, one release for one run."""
    demo(Cluster(name), values or [])


if __name__ == "__main__":
    sys.exit(exit_status(lambda: typer.run(command)))
